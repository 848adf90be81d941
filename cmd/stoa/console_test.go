package main

import (
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// operatorConsole is a running server and the flags with which `stoa operator` finds it.
type operatorConsole struct {
	*testServer

	flags []string
}

// newOperatorConsole returns the console of an operator with the name of the test, so that auditLog returns only its acts.
func newOperatorConsole(t testing.TB, s *testServer) *operatorConsole {
	t.Helper()
	return &operatorConsole{s, []string{
		"--address=" + strings.TrimPrefix(s.operator, "http://"), "--data-dir=" + s.data, "--as=" + t.Name(),
	}}
}

// ownServer starts a separate server without limits, whose settings the test may change.
func ownServer(t testing.TB, settings ...string) (*graphtest.World, *testServer) {
	t.Helper()
	w := graphtest.New(t)
	return w, startServer(t, slices.Concat([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits, settings)...)
}

// ownConsole is newOperatorConsole of an ownServer.
func ownConsole(t testing.TB) *operatorConsole {
	t.Helper()
	_, s := ownServer(t)
	return newOperatorConsole(t, s)
}

// run runs a command of `stoa operator`.
func (o *operatorConsole) run(args ...string) (code int, stdout, stderr string) {
	return runInProcess(slices.Concat([]string{"operator"}, o.flags, args)...)
}

// text requires that a command succeeds, and returns its output.
func (o *operatorConsole) text(args ...string) string {
	o.t.Helper()
	code, stdout, stderr := o.run(args...)
	require.Zero(o.t, code, "%v: %s", args, stderr)
	require.Empty(o.t, stderr)
	return stdout
}

// runJSON is text for a command with --json, decoded.
func runJSON[Value any](o *operatorConsole, args ...string) Value {
	o.t.Helper()
	return parsed[Value](o.t, o.text(append(args, "--json")...))
}

type row map[string]any

// auditLog returns the entries of this operator, newest first.
func (o *operatorConsole) auditLog(args ...string) []row {
	o.t.Helper()
	return runJSON[[]row](o, append([]string{"audit", "--all", "--by=" + o.t.Name()}, args...)...)
}

// Each act of an operator is in the audit log afterwards, without secrets.
func TestConsole(t *testing.T) {
	t.Parallel()
	o := ownConsole(t)
	require.Contains(t, o.text("settings"), "open")
	require.Equal(t, "Nothing there.\n", o.text("bots"))
	require.Empty(t, runJSON[[]row](o, "bots"))
	ada := o.newAgent("Ada Bell", "")
	ada.Handle = "ada0" + strings.ReplaceAll(uuid.NewString(), "-", "")[4:] // as long as an id without dashes
	require.NoError(t, ada.register(t.Context()))

	changed := o.text("settings", "set", "--fee-bps=900", "--registration-mode=invitation", "--rewards",
		"--reason=a trial")
	require.Regexp(t, `Fee +9\.00 %`, changed)
	made := runJSON[struct {
		Invitation row
		Code       string
	}](o, "invitations", "create", "--uses=2", "--expires=7d", "--note=for a friend", "--reason=asked for")
	require.Len(t, strings.ReplaceAll(made.Code, "-", ""), 26)
	revoked := regexp.MustCompile(`REVOKED\n.*a friend +2 +0 +\d+s +in \d+d +\d+s`)
	require.Regexp(t, revoked, o.text("invitations", "revoke", made.Invitation["id"].(string), "--reason=lost", "--as=Ben"))
	require.Regexp(t, revoked, o.text("list", "invitations"))

	require.Contains(t, o.text("bots", "--search=BELL"), ada.Handle)
	require.Equal(t, "Nothing there.\n", o.text("bots", "--suspended"))
	topUp := []string{"top-up", ada.Handle, "12.34", "--operation-id=019b0000-abcd-7000-8000-00000000000f", "--reason=a gift"}
	topped := runJSON[struct {
		Account  row
		Repeated bool
	}](o, topUp...)
	require.InDelta(t, 501_234, topped.Account["availableMinor"], 0)
	require.Regexp(t, `Repeated +yes`, o.text(topUp...))
	require.Regexp(t, `Available +5012\.34`, o.text("bots", "show", ada.Handle))
	require.Regexp(t, `Ada Bell +suspended +\d+s`, o.text("suspend-bot", ada.Handle, "--reason=it shouts"))
	require.Equal(t, http.StatusForbidden, get(t, ada.Client, "/bots/me").Status)
	require.Nil(t, runJSON[[]row](o, "bots", "reinstate", ada.ID, "--reason=it is quiet")[0]["suspendedAt"])
	grant := runJSON[row](o, "bots", "reissue-token", ada.Handle, "--reason=lost")
	require.NotEqual(t, ada.Token(), grant["token"])
	ada.SetToken(grant["token"].(string))
	require.NoError(t, ada.Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))
	require.Contains(t, o.text("maintenance", "reconcile", "--reason=weekly"), "reconcile")
	_, _, stderr := o.run("bots", "mail-owner", ada.Handle, "Hello.", "--reason=a question")
	require.Contains(t, stderr, "This installation cannot send mail")

	done := o.auditLog()
	var procedures []string
	for _, entry := range slices.Backward(done) {
		procedures = append(procedures, entry["procedure"].(string))
		require.NotContains(t, fmt.Sprint(entry), grant["token"])
		require.NotContains(t, fmt.Sprint(entry), made.Code)
	}
	require.Equal(t, []string{
		"updateSettings", "createInvitation", "topUpWallet", "topUpWallet", "suspendBot", "reinstateBot",
		"reissueToken", "runMaintenance",
	}, procedures)
	require.Equal(t, "revokeInvitation", o.auditLog("--by=Ben")[0]["procedure"])
	suspended := o.auditLog("--procedure=suspendBot", "--target="+ada.ID, "--since=1h")
	require.Len(t, suspended, 1)
	require.Equal(t, "it shouts", suspended[0]["reason"])
	require.Equal(t, t.Name(), suspended[0]["operator"])
	require.Empty(t, o.auditLog("--before=1h"))
	require.Len(t, runJSON[[]row](o, "audit", "--limit=3"), 3)
	require.Contains(t, o.text("audit", "--procedure=topUpWallet"), "a gift")
}

// The files of an order are read only through a review of it.
func TestConsoleOrderFile(t *testing.T) {
	t.Parallel()
	o := newOperatorConsole(t, sharedServer(t))
	ada := o.join("Ada", "ada")
	ben := o.join("Ben", "ben")
	require.NoError(t, ada.meet(t.Context(), ben))
	sent, other := o.uploadImage(ada, "order"), o.uploadImage(ada, "order")
	made := graphtest.Got(client.One[client.Order](t.Context(), ada.Client, http.MethodPost, "/orders", "order", row{
		"operation_id": uuid.NewString(), "title": "A map", "description": "Of this", "deadline": time.Now().Add(time.Hour),
		"amount_minor": 100, "confirmed_total_minor": 110, "contractor_id": ben.ID, "input_attachment_ids": []string{sent},
	}))(t)
	require.Contains(t, o.text("orders", "--bot="+ada.Handle, "--state=offered"), made.ID)
	require.Equal(t, "Nothing there.\n", o.text("orders", "--bot="+ada.Handle, "--state=closed"))
	review := o.text("orders", "review", made.ID, "--reason=a complaint")
	require.Contains(t, review, sent)
	require.Regexp(t, `Events +create  \w+  offered  version 1`, review)
	path := filepath.Join(t.TempDir(), "sent.jpg")
	saved := runJSON[row](o, "orders", "file", made.ID, sent, "--to="+path, "--reason=a complaint")
	raw := readFile(t, path)
	require.InDelta(t, len(raw), saved["sizeBytes"], 0)
	graphtest.OK(t)(jpeg.Decode(strings.NewReader(raw)))
	fails(t, exitUsage, "is there already")(o.run("orders", "file", made.ID, sent, "--to="+path, "--reason=again"))
	require.Len(t, o.auditLog("--procedure=reviewOrder"), 2)
	fails(t, exitFailure, "not_found")(o.run("orders", "file", made.ID, other, "--to="+path+".other", "--reason=a guess"))
	require.NoFileExists(t, path+".other")
}

// Operators find reports, moderate in one act or in several, answer, and publish and withdraw documents.
func TestConsoleModeration(t *testing.T) {
	t.Parallel()
	o := ownConsole(t)
	vex, kai := o.join("Stoa Support", "vex"), o.join("Kai", "kai")
	for path, sent := range map[string]row{
		"/posts":    {"text": "Buy now", "title": "An advertisement", "kind": "update", "visibility": "public"},
		"/tasks":    {"title": "An advertisement", "description": "Buy", "deadline": "2099-01-01T00:00:00Z", "amount_minor": 100},
		"/services": {"title": "An advertisement", "description": "Send me your token."},
	} {
		require.NoError(t, vex.Do(t.Context(), http.MethodPost, path, sent, nil), path)
	}
	require.NoError(t, kai.Do(t.Context(), http.MethodPost, "/feedback", row{
		"kind": "report", "text": "It asks\nfor tokens.", "subject": row{"type": "bot", "id": vex.ID},
	}, nil))
	require.Regexp(t, kai.Handle+` +bot +`+vex.Handle+` .* open`, o.text("reports", "--state=open"))
	require.Contains(t, o.text("reports"), "It asks for tokens.")

	for _, what := range []string{"posts", "tasks"} {
		found := runJSON[[]row](o, what, "--search=ADVERT")
		require.Len(t, found, 1, what)
		require.Empty(t, runJSON[[]row](o, what, "--search=nothing"))
		id := found[0]["id"].(string)
		require.Contains(t, o.text(what), vex.Handle)
		require.Contains(t, o.text(what, "remove", id, "--reason=spam"), id)
		require.Len(t, o.auditLog("--target="+id), 1)
		fails(t, exitFailure, "not_found")(o.run("attachments", "remove", id, "--reason=spam"))
	}
	done := o.text("bots", "moderate", vex.Handle, "--suspend", "--name", "--remove=services", "--remove=posts", "--reason=a swindler")
	require.Regexp(t, `Suspended +\d`, done)
	require.Regexp(t, `Display name +`+vex.Handle, done)
	require.Regexp(t, `Removed +services  removed 1  remaining 0`, done)
	o.text("bots", "clear-profile", vex.Handle, "--texts", "--reason=the rest")
	require.Regexp(t, `Removed +tasks  removed 0  remaining 0`, o.text("bots", "remove-content", vex.Handle, "--remove=tasks", "--reason=the rest"))
	report := runJSON[[]row](o, "reports", "--state=open")[0]["id"].(string)
	require.Contains(t, o.text("feedback", "answer", report, "Thank you.", "--reason=seen to"), "answered")
	require.Empty(t, runJSON[[]row](o, "reports", "--state=open"))

	path := filepath.Join(t.TempDir(), "terms.md")
	require.NoError(t, os.WriteFile(path, []byte("Be kind."), 0o600))
	published := runJSON[[]row](o, "documents", "publish", "terms", path, "--title=Terms", "--version=1", "--reason=launch")
	require.Len(t, published, 1)
	require.Contains(t, o.text("documents"), "terms")
	withdrawn := runJSON[[]row](o, "documents", "withdraw", published[0]["id"].(string), "--reason=a mistake")
	require.NotEmpty(t, withdrawn[0]["withdrawnAt"])
	var procedures []any
	for _, entry := range o.auditLog() {
		procedures = append(procedures, entry["procedure"])
	}
	require.Equal(t, []any{
		"withdrawDocument", "publishDocument", "answerFeedback", "removeContent", "clearProfile", "moderateBot", "removeTask", "removePost",
	}, procedures)
}

func TestConsoleErrors(t *testing.T) {
	t.Parallel()
	o := newOperatorConsole(t, sharedServer(t))
	const nobody = "019b0000-abcd-7000-8000-00000000000f"
	latin := filepath.Join(t.TempDir(), "terms.txt")
	require.NoError(t, os.WriteFile(latin, []byte("Gr\xfc\xdfe"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"not UTF-8":           {[]string{"documents", "publish", "terms", latin, "--title=T", "--version=1", "--reason=x"}, exitUsage, "UTF-8"},
		"a name of two lines": {[]string{"settings", "--as=Ada\nBen"}, exitUsage, "--as"},
		"no command":          {nil, exitUsage, "--help"},
		"an unknown command":  {[]string{"sing"}, exitUsage, "sing"},
		"no reason":           {[]string{"bots", "suspend", nobody}, exitUsage, "--reason"},
		"a negative amount":   {[]string{"top-up", nobody, "-5", "--reason=x"}, exitUsage, "-5 is no flag"},
		"nothing to set":      {[]string{"settings", "set", "--reason=x"}, exitUsage, "nothing to set"},
		"an unknown mode":     {[]string{"settings", "set", "--registration-mode=ajar", "--reason=x"}, exitUsage, "ajar"},
		"a fee out of range":  {[]string{"settings", "set", "--fee-bps=20000", "--reason=x"}, exitFailure, "feeBps must be from 0 to 10000"},
		"no such agent":       {[]string{"bots", "suspend", nobody, "--reason=x"}, exitFailure, "not_found"},
		"no such handle":      {[]string{"bots", "show", "nobody"}, exitUsage, "nobody"},
		"an invalid id":       {[]string{"orders", "review", "seven", "--reason=x"}, exitFailure, "invalid_id"},
		"an invalid amount":   {[]string{"top-up", nobody, "much", "--reason=x"}, exitUsage, "12.34"},
		"too many decimals":   {[]string{"top-up", nobody, "1.234", "--reason=x"}, exitUsage, "12.34"},
		"an invalid date":     {[]string{"audit", "--since=once"}, exitUsage, "once"},
		"no rows":             {[]string{"bots", "--limit=0"}, exitUsage, "--limit"},
		"an unknown task":     {[]string{"maintenance", "tidy", "--reason=x"}, exitUsage, "reconcile"},
		"an empty reason":     {[]string{"maintenance", "reconcile", "--reason= "}, exitUsage, "--reason"},
		"a name too long":     {[]string{"settings", "--as=" + strings.Repeat("n", 100)}, exitFailure, "X-Stoa-Operator"},
		"a wrong token":       {[]string{"settings", "--token=wrong"}, exitFailure, "the token came from --token"},
		"no token":            {[]string{"settings", "--data-dir=/nowhere"}, exitUsage, "/nowhere/operator.token"},
		"no server":           {[]string{"settings", "--address=127.0.0.1:1"}, exitFailure, "no server answers at 127.0.0.1:1"},
		"an invalid address":  {[]string{"settings", "--address=here"}, exitUsage, "--address"},
		"the public listener": {[]string{"settings", "--address=" + o.url}, exitFailure, "no operator listener"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := o.run(c.args...)
			require.Equal(t, c.code, code, stderr)
			require.Empty(t, out)
			require.Contains(t, stderr, c.text)
			require.Equal(t, c.code == exitUsage, strings.HasSuffix(stderr, " --help)\n"), stderr)
			require.True(t, strings.HasPrefix(stderr, "stoa: "), stderr)
		})
	}
	require.Empty(t, o.auditLog(), "nothing was changed")
	require.Contains(t, o.text("settings", "--address="+o.operator+"/"), "open", "a URL works, too")
}
