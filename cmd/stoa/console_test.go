package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/cmd/stoa/seed"
	"stoa/graph/graphtest"
)

// office is a running server and an operator's console beside it.
type office struct {
	*instance

	settings []string
}

func newOffice(t testing.TB) *office {
	t.Helper()
	s := serve(t, append([]string{"STOA_DATABASE_URL=" + graphtest.NewDatabase(t)}, unlimited...)...)
	return &office{s, []string{"STOA_OPERATOR_LISTEN=" + strings.TrimPrefix(s.operator, "http://"), "STOA_DATA_DIR=" + s.data, "TZ=UTC"}}
}

// run types a command of the console.
func (o *office) run(args ...string) (code int, out, complaints string) {
	o.t.Helper()
	return outcome(o.t, append([]string{"operator"}, args...), o.settings...)
}

// says requires that a command does its work, and returns what it prints.
func (o *office) says(args ...string) string {
	o.t.Helper()
	code, out, complaints := o.run(args...)
	require.Zero(o.t, code, "%v: %s", args, complaints)
	require.Empty(o.t, complaints)
	return out
}

// tells is says with --json.
func tells[Value any](o *office, args ...string) Value {
	o.t.Helper()
	var value Value
	out := o.says(append(args, "--json")...)
	require.NoError(o.t, json.Unmarshal([]byte(out), &value), out)
	return value
}

type row map[string]any

// trail is the audit log, newest first.
func (o *office) trail(args ...string) []row {
	o.t.Helper()
	return tells[[]row](o, append([]string{"audit", "--all"}, args...)...)
}

// A day in the office: what an operator does, and what the audit log says of it afterwards.
func TestConsole(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	require.Contains(t, o.says("settings"), "OPEN")
	require.Equal(t, "Nothing there.\n", o.says("bots"))
	require.Empty(t, tells[[]row](o, "bots"))
	ada, err := agent.Register(t.Context(), o.client(), "Ada Bell", "ada_bell")
	require.NoError(t, err)

	require.Contains(t, o.says("settings", "set", "--fee-bps=900", "--registration-mode=invitation", "--rewards", "--reason=a trial", "--as=Ben"), "900 basis points")
	made := tells[struct {
		Invitation row
		Code       string
	}](o, "invitations", "create", "--uses=2", "--expires=7d", "--note=for a friend", "--reason=asked for", "--as=Ben")
	require.Len(t, strings.ReplaceAll(made.Code, "-", ""), 26)
	require.Contains(t, o.says("invitations", "revoke", made.Invitation["id"].(string), "--reason=lost"), "revoked")
	require.Contains(t, o.says("invitations"), "revoked")

	require.Contains(t, o.says("bots", "--search=BELL"), ada.Handle)
	require.Equal(t, "Nothing there.\n", o.says("bots", "--suspended"))
	topped := tells[struct {
		Account  row
		Repeated bool
	}](o, "top-up", ada.Handle, "12.34", "--operation-id=019b0000-abcd-7000-8000-00000000000f", "--reason=a gift")
	require.InDelta(t, 501_234, topped.Account["availableMinor"], 0)
	require.Contains(t, o.says("top-up", ada.Handle, "12.34", "--operation-id=019b0000-abcd-7000-8000-00000000000f", "--reason=a gift"), "done before")
	require.Regexp(t, `Available +5012\.34`, o.says("bots", "show", ada.Handle))
	require.Contains(t, o.says("bots", "suspend", ada.Handle, "--reason=it shouts"), "active, suspended")
	refused, err := ada.Send(t.Context(), http.MethodGet, "/bots/me", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, refused.Status)
	require.NotContains(t, o.says("bots", "reinstate", ada.ID, "--reason=it is quiet"), "suspended")
	grant := tells[row](o, "bots", "reissue-token", ada.Handle, "--reason=lost")
	require.NotEqual(t, ada.Token, grant["token"])
	ada.Token = grant["token"].(string)
	require.NoError(t, ada.Get(t.Context(), "/bots/me", new(row)))
	require.Contains(t, o.says("maintenance", "reconcile", "--reason=weekly"), "reconcile")

	done := o.trail()
	var procedures []string
	for _, entry := range slices.Backward(done) {
		procedures = append(procedures, entry["procedure"].(string))
		require.NotContains(t, fmt.Sprint(entry), grant["token"])
		require.NotContains(t, fmt.Sprint(entry), made.Code)
	}
	require.Equal(t, []string{
		"updateSettings", "createInvitation", "revokeInvitation", "topUpWallet", "topUpWallet", "suspendBot", "reinstateBot", "reissueToken", "runMaintenance",
	}, procedures)
	require.Len(t, o.trail("--by=Ben"), 2)
	suspended := o.trail("--procedure=suspendBot", "--target="+ada.ID, "--since=1h")
	require.Len(t, suspended, 1)
	require.Equal(t, "it shouts", suspended[0]["reason"])
	require.Equal(t, "operator", suspended[0]["operator"])
	require.Empty(t, o.trail("--before=1h"))
	require.Len(t, tells[[]row](o, "audit", "--limit=3"), 3)
	require.Contains(t, o.says("audit", "--procedure=topUpWallet"), "a gift")
}

// A board full of orders: pages, filters, stuck ones, and the look into one.
func TestConsoleOrders(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	require.NoError(t, seed.Fill(t.Context(), o.client(), 10, io.Discard))
	all := tells[[]row](o, "orders", "--all")
	require.Greater(t, len(all), 7)
	require.Len(t, tells[[]row](o, "orders", "--limit=2"), 2)
	states := make(map[string]int)
	for _, order := range all {
		states[order["state"].(string)]++
	}
	for state, n := range states {
		require.Len(t, tells[[]row](o, "orders", "--all", "--state="+state), n)
	}
	customer := all[0]["customer"].(map[string]any)["handle"].(string)
	for _, order := range tells[[]row](o, "orders", "--all", "--bot="+customer) {
		require.Contains(t, []any{order["customer"].(map[string]any)["handle"], order["contractor"].(map[string]any)["handle"]}, customer)
	}
	require.Len(t, tells[[]row](o, "orders", "stuck"), states["disputed"], "nothing else is old enough")
	require.Len(t, tells[[]row](o, "orders", "stuck", "--idle=0s", "--all"), states["disputed"]+states["funded"]+states["in_progress"]+states["delivered"])
	require.Regexp(t, `TROUBLE +ID +STATE .*AGE +IDLE\ndisputed`, o.says("orders", "stuck"))

	disputed := tells[[]row](o, "orders", "stuck")[0]["id"].(string)
	review := o.says("orders", "review", disputed, "--reason=a complaint", "--as=Ben")
	require.Contains(t, review, "Description")
	require.Contains(t, review, "dispute by")
	looked := o.trail("--procedure=reviewOrder")
	require.Len(t, looked, 1)
	require.Equal(t, disputed, looked[0]["target"])
}

// The files of an order are seen through a look into it, and no other way.
func TestConsoleOrderFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada, err := agent.Register(t.Context(), o.client(), "Ada", "ada")
	require.NoError(t, err)
	ben, err := agent.Register(t.Context(), o.client(), "Ben", "ben")
	require.NoError(t, err)
	require.NoError(t, ada.Befriend(t.Context(), ben))
	sent, other := o.upload(ada, "order"), o.upload(ada, "order")
	var made struct{ Order struct{ ID string } }
	require.NoError(t, ada.Post(t.Context(), "/orders", row{
		"operation_id": uuid.NewString(), "title": "A map", "description": "Of this", "deadline": time.Now().Add(time.Hour), "amount_minor": 100,
		"confirmed_total_minor": 110, "contractor_id": ben.ID, "input_attachment_ids": []string{sent},
	}, http.StatusCreated, &made))
	require.Contains(t, o.says("orders", "review", made.Order.ID, "--reason=a complaint"), sent)
	path := filepath.Join(t.TempDir(), "sent.png")
	saved := tells[row](o, "orders", "file", made.Order.ID, sent, "--to="+path, "--reason=a complaint")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.InDelta(t, len(raw), saved["sizeBytes"], 0)
	_, err = png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	code, _, complaints := o.run("orders", "file", made.Order.ID, sent, "--to="+path, "--reason=again")
	require.Equal(t, exitSettings, code)
	require.Contains(t, complaints, "is there already")
	require.Len(t, o.trail("--procedure=reviewOrder"), 2)
	code, _, complaints = o.run("orders", "file", made.Order.ID, other, "--to="+path+".other", "--reason=a guess")
	require.Equal(t, exitFailure, code)
	require.Contains(t, complaints, "not_found")
	require.NoFileExists(t, path+".other")
}

// What agents publish is found, and goes for good; what they say is answered; documents come into force and go out of it.
func TestConsoleModeration(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada, err := agent.Register(t.Context(), o.client(), "Ada", "ada")
	require.NoError(t, err)
	for path, sent := range map[string]row{
		"/posts":    {"text": "Buy now", "title": "An advertisement", "kind": "update", "visibility": "public"},
		"/tasks":    {"title": "An advertisement", "description": "Buy", "deadline": "2099-01-01T00:00:00Z", "amount_minor": 100},
		"/services": {"title": "An advertisement", "description": "Buy"},
		"/feedback": {"kind": "bug", "text": "It is slow\nat night"},
	} {
		require.NoError(t, ada.Post(t.Context(), path, sent, http.StatusCreated, new(row)), path)
	}
	for _, what := range []string{"posts", "tasks", "services"} {
		found := tells[[]row](o, what, "--search=ADVERT")
		require.Len(t, found, 1, what)
		require.Empty(t, tells[[]row](o, what, "--search=nothing"))
		id := found[0]["id"].(string)
		require.Contains(t, o.says(what), ada.Handle)
		require.Contains(t, o.says(what, "remove", id, "--reason=spam"), id)
		require.Len(t, o.trail("--target="+id), 1)
		code, _, complaints := o.run("attachments", "remove", id, "--reason=spam")
		require.Equal(t, exitFailure, code)
		require.Contains(t, complaints, "not_found")
	}

	said := tells[[]row](o, "feedback", "--state=open")
	require.Len(t, said, 1)
	require.Contains(t, o.says("feedback"), "It is slow at night")
	require.Contains(t, o.says("feedback", "answer", said[0]["id"].(string), "We are on it.", "--reason=asked"), "answered")
	require.Empty(t, tells[[]row](o, "feedback", "--state=open"))

	path := filepath.Join(t.TempDir(), "terms.md")
	require.NoError(t, os.WriteFile(path, []byte("Be kind."), 0o600))
	published := tells[[]row](o, "documents", "publish", "terms", path, "--title=Terms", "--version=1", "--reason=launch")
	require.Len(t, published, 1)
	require.Contains(t, o.says("documents"), "terms")
	require.NotEmpty(t, tells[[]row](o, "documents", "withdraw", published[0]["id"].(string), "--reason=a mistake")[0]["withdrawnAt"])
	require.Len(t, o.trail(), 6)
}

func TestConsoleComplaints(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const nobody = "019b0000-abcd-7000-8000-00000000000f"
	latin := filepath.Join(t.TempDir(), "terms.txt")
	require.NoError(t, os.WriteFile(latin, []byte("Gr\xfc\xdfe"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"another encoding":    {[]string{"documents", "publish", "terms", latin, "--title=Terms", "--version=1", "--reason=x"}, exitSettings, "UTF-8"},
		"a name of two lines": {[]string{"settings", "--as=Ada\nBen"}, exitSettings, "--as"},
		"no command":          {nil, exitSettings, "--help"},
		"an unknown command":  {[]string{"sing"}, exitSettings, "sing"},
		"no reason":           {[]string{"bots", "suspend", nobody}, exitSettings, "--reason"},
		"nothing to set":      {[]string{"settings", "set", "--reason=x"}, exitSettings, "nothing to set"},
		"an unknown mode":     {[]string{"settings", "set", "--registration-mode=ajar", "--reason=x"}, exitSettings, "ajar"},
		"a fee out of range":  {[]string{"settings", "set", "--fee-bps=20000", "--reason=x"}, exitFailure, "feeBps must be from 0 to 10000"},
		"no such agent":       {[]string{"bots", "suspend", nobody, "--reason=x"}, exitFailure, "not_found"},
		"no such handle":      {[]string{"bots", "show", "nobody"}, exitSettings, "nobody"},
		"an id that is none":  {[]string{"orders", "review", "seven", "--reason=x"}, exitFailure, "invalid_id"},
		"no amount":           {[]string{"top-up", nobody, "much", "--reason=x"}, exitSettings, "12.34"},
		"an odd amount":       {[]string{"top-up", nobody, "1.234", "--reason=x"}, exitSettings, "12.34"},
		"a date that is none": {[]string{"audit", "--since=once"}, exitSettings, "once"},
		"no rows":             {[]string{"bots", "--limit=0"}, exitSettings, "--limit"},
		"an unknown task":     {[]string{"maintenance", "tidy", "--reason=x"}, exitSettings, "reconcile"},
		"an empty reason":     {[]string{"maintenance", "reconcile", "--reason= "}, exitSettings, "--reason"},
		"a false name":        {[]string{"settings", "--as=" + strings.Repeat("n", 100)}, exitFailure, "X-Stoa-Operator"},
		"another's token":     {[]string{"settings", "--token=wrong"}, exitFailure, "the token came from --token"},
		"no token":            {[]string{"settings", "--data-dir=/nowhere"}, exitSettings, "/nowhere/operator.token"},
		"no server":           {[]string{"settings", "--address=127.0.0.1:1"}, exitFailure, "no server answers at 127.0.0.1:1"},
		"no address":          {[]string{"settings", "--address=here"}, exitSettings, "--address"},
		"the public listener": {[]string{"settings", "--address=" + o.url}, exitFailure, "no operator listener"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, complaints := o.run(c.args...)
			require.Equal(t, c.code, code, complaints)
			require.Empty(t, out)
			require.Contains(t, complaints, c.says)
			require.True(t, strings.HasPrefix(complaints, "stoa: "), complaints)
		})
	}
	require.Empty(t, o.trail(), "nothing was done")
	require.Contains(t, o.says("settings", "--address="+o.operator+"/"), "OPEN", "a URL will do")
}

// What a shell asks when somebody presses the tab key.
func TestCompletion(t *testing.T) {
	t.Parallel()
	complete := func(line string) string {
		cmd := command(t, nil, "COMP_LINE="+line)
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Contains(t, complete("stoa op"), "operator")
	require.Contains(t, complete("stoa operator bots "), "suspend")
	require.Contains(t, complete("stoa operator bots suspend --rea"), "--reason")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, complaints := outcome(t, []string{"completion", "-c", shell})
		require.Zero(t, code, complaints)
		require.Contains(t, out, "complete ")
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		_, code, _ := outcome(t, []string{"completion", "-c", "bash"})
		path := t.TempDir() + "/init"
		require.NoError(t, os.WriteFile(path, []byte(code), 0o600))
		require.NoError(t, exec.Command(bash, "-c", "source "+path+" && complete -p stoa").Run())
	}
}
