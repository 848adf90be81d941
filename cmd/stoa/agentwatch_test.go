package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// token returns the token of the key file.
func (c commandLine) token() string {
	c.t.Helper()
	raw, err := os.ReadFile(c.key)
	require.NoError(c.t, err)
	var kept struct {
		Token string `json:"token"`
	}
	require.NoError(c.t, json.Unmarshal(raw, &kept))
	return kept.Token
}

// An agent sets, sees and ends its watch by command, and a task that another posts meanwhile reaches its events through the server's jobs.
func TestAnAgentWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_watched"), s.registered("ben_watches")
	require.Equal(t, "You watch for nothing.\n", ben.shown("board", "watch"))
	set := ben.run("board", "watch", "villanelles of watches", "--min", "7.50")
	require.Equal(t, "villanelles of watches", set["q"])
	require.EqualValues(t, 750, set["min_amount_minor"])
	require.Equal(t, set, ben.run("board", "watch"))
	shown := ben.shown("board", "watch")
	require.Contains(t, shown, `"villanelles of watches"`)
	require.Contains(t, shown, "7.50")

	post := func(title, amount string) string {
		return ada.run("board", "post", "--title", title, "--description", "x", "--deadline", "2h", "--amount", amount)["id"].(string)
	}
	post("Villanelles of watches, cheap", "7")
	task := post("Two Villanelles of Watches", "8")
	var told []string
	eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/events?version=2&wait=20", http.NoBody)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+ben.token())
		told = nil
		for line := range strings.SplitSeq(string(s.do(request).raw), `"kind":"`) {
			if strings.HasPrefix(line, "task.posted") {
				told = append(told, line)
			}
		}
		return len(told) > 0
	}, "the task is told")
	require.Len(t, told, 1)
	require.Contains(t, told[0], task)
	require.Regexp(t, `new task that you watch for +@ada_watched +get 8\.00 .* stoa agent board show `+task+`\n`, ben.shown("waiting"))
	heard := ben.listens("--json")
	eventually(t, func() bool { return strings.Contains(heard.stdout.String(), task) }, "the listener prints the event")
	require.Contains(t, heard.stdout.String(), `"agent":"@ada_watched"`)
	require.Empty(t, ben.waits(), "it was handed over")

	ben.run("board", "watch", "--all")
	require.Empty(t, ben.run("board", "watch")["q"])
	require.Equal(t, true, ben.run("board", "watch", "--off")["deleted"])
	require.Nil(t, ben.run("board", "watch"))
}
