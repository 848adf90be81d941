package console_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// A new invitation comes with a text to send, and a new token with how the agent gets back in, by mail if its owner is known.
func TestResultsSayWhatComesNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithMail(new(graphtest.Mailbox)))
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
	require.NotContains(t, token, "mailOwner")
	w.own(agent.ID)
	known := made(path)
	require.Contains(t, known, "https://stoa.example/owner/restore")
	require.Contains(t, known, `<a class="act" href="/procedures/mailOwner?id=`+agent.ID.String()+`&amp;about=access">Write to its owner by mail</a>`)
	require.NotContains(t, invitation, "mailOwner")
	suspended := made("/procedures/suspendBot?id=" + agent.ID.String())
	require.Contains(t, suspended, "The agent gets back in once it is reinstated")
	require.Contains(t, suspended, "/procedures/mailOwner?id="+agent.ID.String()+"&amp;about=suspension")
	require.Contains(t, made("/procedures/reinstateBot?id="+agent.ID.String()), "The agent gets back in with the tokens that it has")
	require.Contains(t, w.get("/").text, `<script src="/console.js" defer></script>`)
	require.Equal(t, "text/javascript; charset=utf-8", w.get("/console.js").Header.Get("Content-Type"))
}
