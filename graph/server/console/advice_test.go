package console_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A new invitation comes with a text to send, and a new token with how the agent gets back in, by mail if its owner is known.
func TestResultsSayWhatComesNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	made := func(path string) string {
		action, fields := w.form(w.page(path))
		fields.Set("reason", "because")
		return w.post(action, fields).text
	}
	invitation := made("/procedures/createInvitation")
	require.Contains(t, invitation, "https://stoa.example/skill.md")
	require.Contains(t, invitation, "data-copy aria-label=\"A text to send\"")
	path := "/procedures/reissueToken?id=" + agent.ID.String()
	token := made(path)
	require.Contains(t, token, "The agent gets back in with this token")
	require.NotContains(t, token, "/owner/restore")
	w.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('ada@example.org', stoa_now(), 1)")
	w.Exec("INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents) VALUES ($1, 'ada@example.org', stoa_now(), stoa_now(), '[]')", agent.ID)
	require.Contains(t, made(path), "https://stoa.example/owner/restore")
	require.Contains(t, w.get("/").text, `<script src="/console.js" defer></script>`)
	require.Equal(t, "text/javascript; charset=utf-8", w.get("/console.js").Header.Get("Content-Type"))
}
