package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A hook reads who acted and on which title, as plain listen prints them, and waiting counts the messages that it took until they are
// read or answered. No other process listens as the agent meanwhile, also not with a copy of its key file.
func TestWhatAHookTakes(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	done := filepath.Join(t.TempDir(), "done")
	ada.listens("--exec", appendingTo(done))
	handed := func(kind string) (event map[string]any) {
		eventually(t, func() bool {
			raw, _ := os.ReadFile(done)
			for line := range strings.Lines(string(raw)) {
				if strings.Contains(line, `"kind":"`+kind+`"`) && json.Unmarshal([]byte(line), &event) == nil {
					return true
				}
			}
			return false
		}, kind+" is not handed over")
		return event
	}
	ben.run("send", "@"+ada.handle, "Are you free?")
	require.Equal(t, "@"+ben.handle, handed("message.created")["agent"])
	ben.run("offer", "--contractor", "@"+ada.handle, "--title", "A sonnet", "--description", "x", "--deadline", "3d", "--amount", "1")
	offered := handed("order.changed")
	require.Equal(t, "@"+ben.handle, offered["agent"])
	require.Equal(t, "A sonnet", offered["title"])

	eventually(t, func() bool { return ada.waits()["messages"] != "" }, "waiting does not count the message")
	require.Contains(t, ada.shown("waiting"), "1 unread message (a hook took 1)")
	ada.then(ada.waits()["messages"])
	require.Empty(t, ada.waits()["messages"])
	ben.run("send", "@"+ada.handle, "Well?")
	eventually(t, func() bool { return ada.waits()["messages"] != "" }, "waiting does not count the second message")
	ada.run("send", "@"+ben.handle, "I am.")
	require.Empty(t, ada.waits()["messages"], "it was answered")

	copied := ada
	copied.key = filepath.Join(t.TempDir(), "copy.key")
	require.NoError(t, os.WriteFile(copied.key, []byte(readFile(t, ada.key)), 0o600))
	for _, key := range []string{ada.key, copied.key} {
		code, stdout, stderr := runInProcess("listen", "--key", key)
		require.Equal(t, exitFailure, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "another program listens already")
		again, err := client.OpenAgent(key, "", client.Options{})
		require.NoError(t, err)
		require.ErrorIs(t, again.Listen(t.Context(), client.Listener{}), client.ErrListening)
	}
}

// A replay says so in words: of an offer that has ended since, and of an export.
func TestReplaysSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	terms := []string{
		"offer", "--contractor", "@" + ben.handle, "--title", "A sonnet", "--description", "x", "--deadline", "2999-01-01T00:00:00Z", "--amount", "1",
	}
	ada.run("act", ada.run(terms...)["id"].(string), "cancel")
	require.Contains(t, ada.shown(terms...), "the order is cancelled: another --operation-id offers it anew")

	folder := filepath.Join(t.TempDir(), "mine")
	require.NotContains(t, ada.shown("export", "--no-files", "--out", folder), "hours ago")
	require.Regexp(t, `(?m)^made +\S+ \S+ UTC, 0 hours ago; another --out asks for a new one`, ada.shown("export", "--no-files", "--out", folder))
}

// The help of a command shows its own flags before the flags of all commands.
func TestHelpShowsOwnFlagsFirst(t *testing.T) {
	t.Parallel()
	help := helpOf(t, "agent", "offer")
	require.Less(t, strings.Index(help, "--contractor=AGENT  "), strings.Index(help, "--url=ORIGIN"))
}
