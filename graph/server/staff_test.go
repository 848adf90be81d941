package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/server"
)

// ada is the context of an operator.
func ada(t testing.TB) context.Context {
	t.Helper()
	return viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
}

// invite makes an own token for an operator.
func (l *listener) invite(name string) string {
	return graphtest.Got(l.Operator.InviteOperator(ada(l.t), name, "joins us"))(l.t).Token
}

// newCode asks for a code that signs in, and returns the path with it.
func (l *listener) newCode(headers ...string) string {
	answer := l.send(http.MethodPost, "/sign-in/codes", "", headers...)
	require.Equal(l.t, http.StatusOK, answer.StatusCode, answer.text)
	var made map[string]any
	require.NoError(l.t, json.Unmarshal([]byte(answer.text), &made))
	return made["path"].(string)
}

// whoami requests /echo, which names the caller, with these headers.
func (l *listener) whoami(headers ...string) httpAnswer {
	return l.send(http.MethodGet, "/echo", "", headers...)
}

// An operator with an own token is known by its name, whatever the header says, from the invitation to the revocation.
func TestAnOwnTokenNamesItsOperator(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	token := l.invite("Kim Example")
	bearer := []string{"Authorization", "Bearer " + token, "X-Stoa-Operator", "Ben"}
	require.Contains(t, l.whoami(bearer...).text, "by Kim Example (2)")
	signIn := func(fields url.Values) string {
		in := l.submit("/sign-in", fields)
		require.Equal(t, http.StatusSeeOther, in.StatusCode, in.text)
		return in.cookie()
	}
	session := signIn(url.Values{"token": {" " + token + "\n"}, "name": {"Ben"}})
	require.NotContains(t, session, token)
	require.Contains(t, l.whoami("Cookie", session, "X-Stoa-Operator", "Ben").text, "by Kim Example")

	_, code, _ := strings.Cut(l.newCode(bearer...), "code=")
	other := signIn(url.Values{"code": {code}, "name": {"Ben"}})
	require.Contains(t, l.whoami("Cookie", other).text, "by Kim Example")
	require.Zero(t, l.Count("SELECT count(*) FROM operators WHERE left_at IS NOT NULL"))
	require.Equal(t, http.StatusSeeOther, l.submit("/sign-out", nil, "Cookie", session).StatusCode)
	for _, ended := range []string{session, other} {
		require.Equal(t, http.StatusUnauthorized, l.whoami("Cookie", ended).StatusCode, "a copy of the cookie is worth nothing")
	}
	session = signIn(url.Values{"token": {token}})
	require.Contains(t, l.whoami("Cookie", session).text, "by Kim Example")
	require.EqualValues(t, 1, l.Count("SELECT count(*) FROM operators WHERE left_at > stoa_now() - interval '1 minute'"), "the next shift begins here")

	require.Empty(t, l.Traces(token), "only its hash is kept")
	graphtest.OK(t)(l.Operator.RevokeOperator(ada(t), "kim example", "left us"))
	for _, headers := range [][]string{bearer, {"Cookie", session}} {
		require.Equal(t, http.StatusUnauthorized, l.whoami(headers...).StatusCode)
	}
	again := l.invite("Kim Example")
	require.NotEqual(t, token, again)
	require.Equal(t, http.StatusUnauthorized, l.whoami(bearer...).StatusCode)
	require.Contains(t, l.whoami("Authorization", "Bearer "+again).text, "by Kim Example")
}

// The token of the installation cannot act under the name of an operator with an own token: not in a header, not at the sign-in,
// and not in an older session.
func TestInstallationTokenTakesNoOperatorsName(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	before := l.signIn("Kim")
	require.Contains(t, l.whoami("Cookie", before).text, "by Kim")
	l.invite("KIM")
	installation := "Bearer " + operatorToken
	require.Equal(t, fault.Forbidden, l.whoami("Authorization", installation, "X-Stoa-Operator", "kim").code())
	require.Equal(t, fault.Unauthorized, l.whoami("Cookie", before).code())
	refused := l.submit("/sign-in", url.Values{"token": {operatorToken}, "name": {"Kim"}})
	require.Equal(t, http.StatusForbidden, refused.StatusCode)
	require.Contains(t, refused.text, "An operator of this name has or had a token")
	require.Contains(t, l.whoami("Authorization", installation).text, "by operator")
	graphtest.OK(t)(l.Operator.RevokeOperator(ada(t), "KIM", "left us"))
	for _, name := range []string{"Kim", "K im", "Kim\u200b", "Kіm"} { // the last is Cyrillic
		require.Equal(t, fault.Forbidden, l.whoami("Authorization", installation, "X-Stoa-Operator", name).code(), "%q", name)
	}
	for _, name := range []string{"Kіm", "K-i-m", "operatоr", "OPERATOR"} {
		graphtest.Refused(t, fault.InvalidInput, "%q", name)(l.Operator.InviteOperator(ada(t), name, "joins us"))
	}
	l.invite("Kim")
}

// A shift begins at the operator's last request before an absence of half an hour.
func TestAShiftBeginsWhenTheOperatorLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	kim := graphtest.Got(s.Operator.InviteOperator(ada(t), "Kim", "joins us"))(t).Token
	shift := func(token string) map[string]any {
		return s.ask(token, `{ shift { at since done { operator procedure count } happened { kind count } } }`, nil).ok("shift")
	}
	span := func(of map[string]any) time.Duration {
		at := graphtest.Got(time.Parse(time.RFC3339, of["at"].(string)))(t)
		return at.Sub(graphtest.Got(time.Parse(time.RFC3339, of["since"].(string)))(t)).Round(time.Minute)
	}
	require.Equal(t, 12*time.Hour, span(shift(kim)), "never away")
	require.Equal(t, 12*time.Hour, span(shift(operatorToken)))
	s.Shift(20 * time.Hour)
	agent := s.Agent()
	s.ask(operatorToken, `mutation ($id: ID!) { noteBot(botId: $id, reason: "a friend") { id } }`, vars{"id": agent.ID}).ok("noteBot")
	for range 2 {
		found := shift(kim)
		require.Equal(t, 20*time.Hour, span(found))
		require.Equal(t, []any{map[string]any{"operator": "operator", "procedure": "noteBot", "count": float64(1)}}, found["done"])
		require.Equal(t, []any{map[string]any{"kind": "agents", "count": float64(1)}}, found["happened"])
	}
	s.Shift(10 * time.Minute)
	require.Equal(t, 20*time.Hour+10*time.Minute, span(shift(kim)), "a break is no end")
}

// An operator has left, although an open page renews itself.
func TestAnOpenPageDoesNotDelayTheShift(t *testing.T) {
	t.Parallel()
	l := newListener(t)
	session := []string{"Cookie", l.submit("/sign-in", url.Values{"token": {l.invite("Kim")}}).cookie()}
	l.whoami(session...)
	for range 3 {
		l.Shift(15 * time.Minute)
		require.Contains(t, l.whoami(append(session, "X-Stoa-Refresh", "1")...).text, "by Kim")
	}
	require.Zero(t, l.Count("SELECT count(*) FROM operators WHERE left_at IS NOT NULL"))
	l.whoami(session...)
	require.EqualValues(t, 1, l.Count("SELECT count(*) FROM operators WHERE left_at < stoa_now() - interval '44 minutes'"))
}

var schema = exec.NewExecutableSchema(exec.Config{}).Schema()

// samples are literals for the types of all required arguments and input fields.
var samples = map[string]string{
	"ID": `"019b0000-abcd-7000-8000-00000000000f"`, "String": `"why not"`, "Int": "1", "Int64": "1", "OrderAction": `"start"`,
	"MaintenanceTask": "RECONCILE", "Boolean": "true", "KeyPurpose": "LOG", "ContentKind": "POSTS",
}

// sample writes the shortest valid value of a type.
func sample(t *testing.T, of *ast.Type) string {
	t.Helper()
	definition := schema.Types[of.Name()]
	if definition.Kind != ast.InputObject {
		require.Contains(t, samples, of.Name())
		return samples[of.Name()]
	}
	var fields []string
	for _, field := range definition.Fields {
		if field.Type.NonNull {
			fields = append(fields, field.Name+": "+sample(t, field.Type))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// call writes the shortest valid use of a root field.
func call(t *testing.T, field *ast.FieldDefinition) string {
	t.Helper()
	var arguments []string
	for _, argument := range field.Arguments {
		if argument.Type.NonNull && argument.DefaultValue == nil {
			arguments = append(arguments, argument.Name+": "+sample(t, argument.Type))
		}
	}
	text := field.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	return text + " { __typename }"
}

// who returns the callers that may call a field. It follows from the declaring domain: explorer and procedures belong to
// operators, every other domain's operations to agents, and a few to both.
func who(field *ast.FieldDefinition) string {
	shared := []string{
		"registerBot", "attachment", "serviceCatalogue", "service", "taskBoard", "task", "registrationRequirements",
		"requestRegistrationEmail", "verifyRegistrationEmail", "requestRestore",
	}
	switch source := field.Position.Src.Name; {
	case slices.Contains(shared, field.Name):
		return "both"
	case source == "../ent.graphql", strings.HasPrefix(source, "../operator/"):
		return "operator"
	default:
		return "agent"
	}
}

func rootFields() map[string]*ast.FieldDefinition {
	all := make(map[string]*ast.FieldDefinition)
	for kind, root := range map[string]*ast.Definition{"query": schema.Query, "mutation": schema.Mutation} {
		for _, field := range root.Fields {
			if !strings.HasPrefix(field.Name, "__") {
				all[kind+" "+field.Name] = field
			}
		}
	}
	return all
}

func TestEveryFieldIsForItsCallersOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)))
	tokens := map[string]string{"agent": s.Agent().Token, "operator": operatorToken}
	require.Greater(t, len(rootFields()), 20)
	for name, field := range rootFields() {
		kind, _, _ := strings.Cut(name, " ")
		for caller, token := range tokens {
			t.Run(fmt.Sprintf("%s by %s", name, caller), func(t *testing.T) {
				a := s.ask(token, kind+" { "+call(t, field)+" }", nil)
				refused := len(a.Errors) > 0 && a.Errors[0].Extensions.Code == fault.Unauthorized
				require.Equal(t, who(field) != caller && who(field) != "both", refused, "%s", a.raw)
				for _, e := range a.Errors {
					require.NotEqual(t, fault.InternalError, e.Extensions.Code, "%s", a.raw)
				}
			})
			if name == "mutation revokeToken" || name == "mutation rotateToken" {
				tokens["agent"] = s.Agent().Token
			}
		}
	}
	require.Empty(t, s.log.String())
}

// A request without any token is 401 before anything else of it is read.
func TestNothingIsReadWithoutAToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	register := marshal(t, map[string]any{
		"query":     `mutation ($key: Base64) { registerBot(input: {handle: "guest", displayName: "Guest", encryptionPublicKey: $key}) { token } }`,
		"variables": map[string]any{"key": s.Agent().PublicKey()},
	})
	for _, header := range []string{"Basic " + operatorToken, "Bearer", "Bearer ", operatorToken, "Bearer " + strings.Repeat("s", 10_000)} {
		s.ask("", "{ settings { feeBps } }", nil, "Authorization", header).fault(401, fault.Unauthorized)
	}
	agent, me := s.Agent(), "{ me { bot { id } } }"
	require.Equal(t, agent.ID.String(), s.ask(agent.Token, me, nil).ok("me")["bot"].(map[string]any)["id"])
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", agent.ID)
	s.ask(agent.Token, me, nil).fault(403, fault.Forbidden)
	before := s.Count("SELECT count(*) FROM bots")
	for name, body := range map[string]string{
		"registration": string(register), "introspection": `{"query": "{ __schema { types { name } } }"}`, "the board": `{"query": "{ taskBoard { tasks { id } } }"}`,
		"nothing": "", "nonsense": "[}", "no query": "{}", "a broken query": `{"query": "{"}`, "an unknown field": `{"query": "{ setings }"}`,
	} {
		a := s.post("", body)
		a.fault(401, fault.Unauthorized)
		require.Equal(t, `Bearer realm="stoa"`, a.header.Get("WWW-Authenticate"), name)
		require.Empty(t, a.header.Get("RateLimit"), name)
		s.post("", body, "Content-Type", "text/plain").fault(401, fault.Unauthorized)
		guess := s.post("guess", body, "Content-Type", "text/plain")
		guess.fault(401, fault.Unauthorized)
		require.Equal(t, `Bearer realm="stoa", error="invalid_token"`, guess.header.Get("WWW-Authenticate"), name)
		s.post("", body, "Cookie", "stoa_operator=forged").fault(401, fault.Unauthorized)
	}
	require.Equal(t, before, s.Count("SELECT count(*) FROM bots"))

	request := graphtest.Got(http.NewRequest(http.MethodPost, s.graphql+server.Path, neverEnding{t.Context()}))(t)
	request.Header.Set("Content-Type", "application/json")
	s.do(request).fault(401, fault.Unauthorized)
}

// neverEnding is a body that never comes.
type neverEnding struct{ ctx context.Context }

func (n neverEnding) Read([]byte) (int, error) {
	<-n.ctx.Done()
	return 0, n.ctx.Err()
}
