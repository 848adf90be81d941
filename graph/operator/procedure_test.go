package operator_test

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/attachments"
	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// act is a valid call of a procedure.
type act struct {
	// target makes the target, which is the method's first argument; nil if the procedure has none.
	target func(*operatorWorld) uuid.UUID
	// arguments are the other arguments, without the reason.
	arguments []any
	// setup is SQL that the call needs.
	setup string
	// pending is the fault of a procedure whose setup is not possible yet; empty for all others.
	pending fault.Code
}

// call calls the method of a procedure's name.
func (a act) call(ctx context.Context, o *operatorWorld, name string, target uuid.UUID, reason string) error {
	in := []reflect.Value{reflect.ValueOf(ctx)}
	if a.target != nil {
		in = append(in, reflect.ValueOf(target))
	}
	for _, argument := range append(a.arguments, reason) {
		in = append(in, reflect.ValueOf(argument))
	}
	out := reflect.ValueOf(o.Operator).MethodByName(strings.ToUpper(name[:1]) + name[1:]).Call(in)
	err, _ := reflect.TypeAssert[error](out[1])
	return err
}

// prepare runs the setup of the call and makes its target.
func (a act) prepare(o *operatorWorld) (target uuid.UUID) {
	o.SendMailTo(new(graphtest.Mailbox))
	o.Owners.SendsMail = a.pending == ""
	if a.setup != "" {
		o.Exec(a.setup)
	}
	if a.target != nil {
		target = a.target(o)
	}
	return target
}

// agent makes an agent with a post.
func (o *operatorWorld) agent() uuid.UUID {
	by := o.Agent()
	o.Posted(by, "an advertisement", "public")
	return by.ID
}

// stored makes a row of a table by its columns and values besides its id and time.
func stored(table, columns, values string) func(*operatorWorld) uuid.UUID {
	return func(o *operatorWorld) uuid.UUID {
		return graphtest.Column[uuid.UUID](o.World, "INSERT INTO "+table+" (id, created_at, "+columns+") VALUES ($1, stoa_now(), "+values+") RETURNING id",
			uuid.Must(uuid.NewV7()))[0]
	}
}

var (
	message  = graphtest.Ptr("Stop.")
	noTime   *time.Time
	noID     *uuid.UUID
	noText   *string
	allPosts = []operator.ContentKind{operator.ContentKindPosts}
)

// acts are calls of every procedure.
var acts = map[string]act{
	"updateSettings":             {arguments: []any{operator.SettingsInput{FeeBps: graphtest.Ptr(int64(250))}}},
	"activateLifecycle":          {pending: fault.LifecycleSetupPending},
	"deactivateLifecycle":        {},
	"activateEmailRequirement":   {pending: fault.VerificationSetupPending},
	"deactivateEmailRequirement": {},
	"publishDocument":            {arguments: []any{terms("1")}},
	"withdrawDocument":           {target: stored("documents", "key, title, version, url, text, sha256", "'terms', 'Terms', '1', '', 'text', 'hash'")},
	"createInvitation":           {arguments: []any{operator.InvitationInput{}}},
	"revokeInvitation":           {target: stored("invitations", "code_hash, uses", "'hash', 1")},
	"topUpWallet":                {target: (*operatorWorld).agent, arguments: []any{int64(100), noID}},
	"suspendBot":                 {target: (*operatorWorld).agent, arguments: []any{message}},
	"reinstateBot": {target: func(o *operatorWorld) uuid.UUID {
		id := o.agent()
		o.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", id)
		return id
	}},
	"reissueToken":   {target: (*operatorWorld).agent},
	"mailOwner":      {target: (*operatorWorld).ownedAgent, arguments: []any{"Hello.", noID}},
	"clearProfile":   {target: (*operatorWorld).agent, arguments: []any{true, true, true, message}},
	"removeContent":  {target: (*operatorWorld).agent, arguments: []any{allPosts, message}},
	"moderateBot":    {target: (*operatorWorld).agent, arguments: []any{true, true, true, true, allPosts, true, graphtest.Ptr("Thank you."), noTime, message}},
	"noteBot":        {target: (*operatorWorld).agent},
	"writePreset":    {arguments: []any{operator.PresetInput{Name: "Swindle", Answer: "Thank you."}}},
	"deletePreset":   {arguments: []any{"Swindle"}, setup: "INSERT INTO presets VALUES ('Swindle', '', '', '', false, false, stoa_now())"},
	"inviteOperator": {arguments: []any{"Kim"}},
	"revokeOperator": {
		arguments: []any{"kim"}, setup: "INSERT INTO operators (name, token_hash, invited_by, created_at) VALUES ('Kim', 'hash', 'ada', stoa_now())",
	},
	"removePost": {
		target:    func(o *operatorWorld) uuid.UUID { return o.Posted(o.Agent(), "an advertisement", "public").ID },
		arguments: []any{message},
	},
	"removeAttachment": {target: func(o *operatorWorld) uuid.UUID { return o.File(o.Agent(), attachments.Portfolio) }, arguments: []any{message}},
	"removeTask":       {target: func(o *operatorWorld) uuid.UUID { return o.task(o.Agent()) }, arguments: []any{message}},
	"removeService":    {target: func(o *operatorWorld) uuid.UUID { return o.service(o.Agent()) }, arguments: []any{message}},
	"removeRating":     {target: (*operatorWorld).rating, arguments: []any{message}},
	"answerFeedback":   {target: func(o *operatorWorld) uuid.UUID { return o.sent(o.Agent()) }, arguments: []any{"Thank you.", message}},
	"reviewPost":       {target: func(o *operatorWorld) uuid.UUID { return o.Posted(o.Agent(), "a text", "private").ID }},
	"reviewOrder":      {target: (*operatorWorld).order},
	"rotateKey":        {arguments: []any{operator.KeyPurposeLog}},
	"runMaintenance":   {arguments: []any{operator.MaintenanceTaskReconcile}},
}

func TestTheTableIsTheSchema(t *testing.T) {
	t.Parallel()
	declared := make(map[string]*ast.FieldDefinition)
	for _, field := range exec.NewExecutableSchema(exec.Config{}).Schema().Mutation.Fields {
		if strings.HasPrefix(field.Position.Src.Name, "../operator/") {
			declared[field.Name] = field
		}
	}
	for _, p := range operator.Procedures() {
		field := declared[p.Name]
		require.NotNil(t, field, p.Name)
		reason := field.Arguments.ForName("reason")
		require.NotNil(t, reason, p.Name)
		require.Equal(t, "String!", reason.Type.String(), p.Name)
		require.Contains(t, acts, p.Name)
		delete(declared, p.Name)
	}
	require.Empty(t, declared)
	require.Len(t, acts, len(operator.Procedures()))
}

// agentOf maps the kind of a target to the column with its agent, whose entries include those about its records.
var agentOf = map[string]string{
	"Bot": "id FROM bots", "Post": "author_id FROM posts", "Task": "customer_id FROM tasks", "Service": "bot_id FROM services",
	"Rating": "author_id FROM ratings", "Attachment": "owner_id FROM attachments", "Feedback": "bot_id FROM feedbacks", "Order": "customer_id FROM orders",
}

func TestEveryProcedureIsAudited(t *testing.T) {
	t.Parallel()
	for _, p := range operator.Procedures() {
		name, a := p.Name, acts[p.Name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			target := a.prepare(o)
			before := o.state()
			for _, reason := range []string{"", " \n", "bell\a", strings.Repeat("x", 2001)} {
				wrong := graphtest.RequireFault(t, a.call(o.ctx, o, name, target, reason), fault.InvalidInput)
				require.Contains(t, wrong.Fields, "reason")
			}
			for _, nobody := range []context.Context{context.Background(), viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Agent})} {
				graphtest.RequireFault(t, a.call(nobody, o, name, target, "why"), fault.Unauthorized)
			}
			if a.target != nil {
				graphtest.RequireFault(t, a.call(o.ctx, o, name, uuid.New(), "why"), fault.NotFound)
			}
			o.Exec("ALTER TABLE audit_entries ADD CONSTRAINT full_up CHECK (operator = '') NOT VALID")
			graphtest.RequireFault(t, a.call(o.ctx, o, name, target, "why"), cmp.Or(a.pending, fault.InternalError))
			require.Equal(t, before, o.state(), "nothing happens unaudited")
			o.Exec("ALTER TABLE audit_entries DROP CONSTRAINT full_up")
			if a.pending != "" {
				return
			}
			require.NoError(t, a.call(o.ctx, o, name, target, "because\nof this"))
			entries := o.entries()
			require.Len(t, entries, 1)
			require.Equal(t, "ada", entries[0].Operator)
			require.Equal(t, name, entries[0].Procedure)
			require.Equal(t, "because\nof this", entries[0].Reason)
			require.WithinDuration(t, o.Now(), entries[0].CreatedAt, day)
			require.NotNil(t, entries[0].Details)
			if a.target != nil {
				require.Equal(t, target.String(), entries[0].Target)
			}
			if column := agentOf[p.Target]; column != "" {
				require.Equal(t, graphtest.Column[uuid.UUID](o.World, "SELECT "+column+" WHERE id = $1", target)[0], *entries[0].BotID)
			}
			if strings.HasPrefix(name, "remove") && name != "removeContent" {
				again := graphtest.RequireFault(t, a.call(o.ctx, o, name, target, "again"), fault.NotFound)
				require.Equal(t, "It was removed or deleted before.", again.Text())
				require.Len(t, o.entries(), 1)
			}
		})
	}
}

// refusal is a call with wrong arguments.
type refusal struct {
	procedure, fields string
	arguments         []any
}

func refusals(past time.Time) []refusal {
	p, many := graphtest.Ptr[string], func(n int) string { return strings.Repeat("ж", n) }
	type settings = operator.SettingsInput
	type invitation = operator.InvitationInput
	type preset = operator.PresetInput
	type document = operator.DocumentInput
	return []refusal{
		{"updateSettings", "input", []any{settings{}}},
		{"updateSettings", "feeBps operatorName operatorContactEmail operatorWebsite", []any{settings{FeeBps: graphtest.Ptr(int64(10_001)),
			OperatorName: p("two\nlines"), OperatorContactEmail: p("Ada <ada@example.org>"), OperatorWebsite: p("javascript:alert(1)")}}},
		{"updateSettings", "feeBps operatorName", []any{settings{FeeBps: graphtest.Ptr(int64(-1)), OperatorName: p(many(161))}}},
		{"createInvitation", "uses note", []any{invitation{Uses: graphtest.Ptr(0), Note: p(many(501))}}},
		{"createInvitation", "expiresAt", []any{invitation{ExpiresAt: &past}}},
		{"publishDocument", "key title version url text", []any{document{URL: "/terms"}}},
		{"publishDocument", "key title version url text", []any{document{"Terms", many(161), many(41), "https:///terms", many(200_001)}}},
		{"publishDocument", "key title url text", []any{document{"1terms", " ", "1", "http://:80", ""}}},
		{"publishDocument", "key url", []any{document{"terms\n", "x", "1", "javascript:alert(1)", "x"}}},
		{"publishDocument", "key url", []any{document{strings.Repeat("a", 41), "x", "1", "https://example.org/" + strings.Repeat("a", 1981), "x"}}},
		{"writePreset", "name", []any{preset{Suspend: true}}},
		{"writePreset", "answer message why", []any{preset{Name: "x", Answer: many(4001), Message: many(2001), Why: many(2001)}}},
		{"writePreset", "answer", []any{preset{Name: "x", Why: " "}}},
		{"answerFeedback", "answer", []any{"", message}},
		{"answerFeedback", "answer", []any{many(4001), message}},
		{"suspendBot", "message", []any{p(" ")}},
		{"suspendBot", "message", []any{p(many(2001))}},
		{"mailOwner", "body", []any{"", noID}},
		{"mailOwner", "body", []any{" \n", noID}},
		{"mailOwner", "body", []any{many(4001), noID}},
		{"topUpWallet", "amountMinor", []any{int64(0), noID}},
		{"topUpWallet", "amountMinor", []any{int64(-1), noID}},
		{"topUpWallet", "amountMinor", []any{int64(1_000_000_000_001), noID}},
		{"clearProfile", "name", []any{false, false, false, message}},
		{"removeContent", "kinds", []any{[]operator.ContentKind{}, message}},
		{"moderateBot", "suspend", []any{false, false, false, false, []operator.ContentKind{}, false, noText, noTime, noText}},
		{"moderateBot", "answer", []any{true, false, false, false, []operator.ContentKind{}, false, p(""), noTime, noText}},
		{"runMaintenance", "task", []any{operator.MaintenanceTask("DEFRAGMENT")}},
		{"rotateKey", "purpose", []any{operator.KeyPurpose("MAIL")}},
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	id, before := o.Agent().ID, o.state()
	for i, c := range refusals(o.Now()) {
		a := acts[c.procedure]
		a.arguments = c.arguments
		refused := graphtest.RequireFault(t, a.call(o.ctx, o, c.procedure, id, "why"), fault.InvalidInput, c.procedure, i)
		require.ElementsMatch(t, strings.Fields(c.fields), slices.Collect(maps.Keys(refused.Fields)), "%s %d", c.procedure, i)
	}
	require.Equal(t, before, o.state())
}

func TestADeletedAgentIsNoTarget(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	gone := o.ownedAgent()
	o.SendMailTo(new(graphtest.Mailbox))
	o.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", gone)
	before := o.state()
	for _, name := range []string{"suspendBot", "reinstateBot", "reissueToken", "topUpWallet", "moderateBot", "clearProfile", "mailOwner"} {
		graphtest.RequireFault(t, acts[name].call(o.ctx, o, name, gone, "why"), fault.NotFound, name)
	}
	require.Equal(t, before, o.state())
}
