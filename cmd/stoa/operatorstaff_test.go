package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator who was invited acts under their name, whatever --as says, until the token is revoked. Cases, presets, operators and the
// shift are read in a terminal.
func TestOperatorsByName(t *testing.T) {
	t.Parallel()
	o := newOperatorConsole(t, ownServer(t))
	o.flags = o.flags[:2]
	require.Equal(t, "Nothing there.\n", o.text("operators"))
	token := runJSON[map[string]any](o, "invite", "Kim Example", "--reason=joins us")["token"].(string)
	kim := &operatorConsole{o.testServer, []string{o.flags[0], "--token=" + token, "--as=Ben"}}
	kim.text("presets", "write", "--name=Swindle", "--answer=We suspended it.", "--suspend", "--reason=often needed")
	require.Contains(t, o.text("presets"), "We suspended it.")
	entries := runJSON[[]row](o, "audit")
	require.Equal(t, []any{"writePreset", "inviteOperator"}, []any{entries[0]["procedure"], entries[1]["procedure"]})
	require.Equal(t, []any{"Kim Example", "operator"}, []any{entries[0]["operator"], entries[1]["operator"]})
	require.Contains(t, kim.text("operators"), "Kim Example")
	shift := kim.text("shift", "--since=7d")
	require.Contains(t, shift, "Kim Example  writePreset")

	reporter, swindler := o.testServer.join("Agent", "agent"), o.testServer.join("Agent", "agent")
	require.NoError(t, reporter.Do(t.Context(), http.MethodPost, "/feedback", row{
		"kind": "report", "text": "It asks for tokens.", "subject": row{"type": "bot", "id": swindler.ID},
	}, nil))
	require.Contains(t, kim.text("cases"), swindler.Handle)
	kim.text("bots", "suspend", swindler.Handle, "--reason=a swindler")
	require.Equal(t, "suspended", runJSON[map[string]any](kim, "bots", "show", swindler.Handle)["state"])
	require.Equal(t, "suspended", runJSON[[]map[string]any](kim, "bots", "list", "--search="+swindler.Handle)[0]["state"])
	require.Equal(t, swindler.Handle, runJSON[[]map[string]any](kim, "cases")[0]["bot"].(map[string]any)["handle"])

	o.text("operators", "revoke", "kim example", "--reason=left us")
	code, _, stderr := kim.run("settings")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "unauthorized")
	code, _, stderr = o.run("operators", "revoke", "nobody", "--reason=left us")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "not_found")
}
