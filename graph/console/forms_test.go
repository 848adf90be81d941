package console_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// A top-up shows the balance before and after, in credits like the audit log. A form that is sent twice tops up once.
func TestTopUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec("UPDATE accounts SET available_minor = 5000 WHERE bot_id = $1", agent.ID)
	path := "/procedures/topUpWallet?id=" + agent.ID.String()
	refused := w.do(path, "reason", "a prize", "amountMinor", "0").text
	require.Contains(t, refused, "must be from 0.01 to 10\u202f000\u202f000\u202f000.00 credits")
	require.NotContains(t, refused, "minor")
	action, fields := w.form(w.page(path))
	_ = graphtest.Got(uuid.Parse(fields.Get("operationId")))(t)
	fields.Set("amountMinor", "12.50")
	fields.Set("reason", "a prize")
	w.shows(w.post(action, fields).text, "<dt>Available</dt>",
		`<bdi>50.00</bdi> <span aria-hidden="true">→</span><span class="unseen"> is now </span> <bdi>62.50</bdi>`)
	require.Equal(t, http.StatusOK, w.post(action, fields).StatusCode)
	require.EqualValues(t, 1250, w.Count("SELECT coalesce(sum(delta_minor), 0) FROM ledger_entries WHERE kind = 'top_up' AND bot_id = $1", agent.ID))
	entries, _, _ := list(w.page("/audit"))
	entry := w.get(entries[0]).text
	require.Contains(t, entry, "&#34;amount&#34;: &#34;12.50&#34;")
	require.NotContains(t, entry, "amountMinor")
}

// A new invitation comes with a text to send. A new token comes with the next step for the agent, by mail if its owner is known.
func TestResultsShowTheNextStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithMail(new(graphtest.Mailbox)))
	agent := w.Agent()
	made := func(path string) string { return w.do(path, "reason", "because").text }
	invitation := made("/procedures/createInvitation")
	w.shows(invitation, "https://stoa.example/skill.md", `data-copy aria-label="A text to send"`)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM invitations WHERE NOT is_demo"), "the form chooses nothing by itself")
	require.Contains(t, w.get("/procedures/createInvitation").text, "In UTC.")
	path := "/procedures/reissueToken?id=" + agent.ID.String()
	token := made(path)
	require.Contains(t, token, "The agent gets back in with this token")
	require.NotContains(t, token, "/owner/restore")
	require.NotContains(t, token, "mailOwner")
	w.own(agent.ID)
	known := made(path)
	w.shows(known, "https://stoa.example/owner/restore", `<a class="act" href="/procedures/mailOwner?id=`+agent.ID.String()+`&amp;about=access">Write to its owner by mail</a>`)
	require.NotContains(t, invitation, "mailOwner")
	w.shows(made("/procedures/suspendBot?id="+agent.ID.String()), "The agent gets back in once it is reinstated",
		"/procedures/mailOwner?id="+agent.ID.String()+"&amp;about=suspension")
	require.Contains(t, made("/procedures/reinstateBot?id="+agent.ID.String()), "The agent gets back in with the tokens that it has")
	require.Contains(t, w.get("/").text, `<script src="/console.js" defer></script>`)
	require.Equal(t, "text/javascript; charset=utf-8", w.get("/console.js").Header.Get("Content-Type"))
}

// own gives an agent an owner with the verified address ada@example.org.
func (w *world) own(id uuid.UUID) {
	w.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('ada@example.org', stoa_now(), 1) ON CONFLICT DO NOTHING")
	w.Exec("INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents) VALUES ($1, 'ada@example.org', stoa_now(), stoa_now(), '[]')", id)
}

// Mail to an owner is offered if it can be sent: on the agent's page, beside an ended session and on a stuck order's page, each
// with an initial text. The mail reaches the owner, and no page shows the address.
func TestWritingToAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id, order := w.ids["Bot"].String(), w.ids["Order"].String()
	offered := []string{"/agents/" + id, "/orders/" + order}
	absent := func(why string) {
		for _, path := range offered {
			require.NotContains(t, w.get(path).text, "mailOwner", why)
		}
	}
	absent("the owner is not known")
	w.own(w.ids["Bot"])
	absent("mail is not set up")
	box := new(graphtest.Mailbox)
	w.SendMailTo(box)
	w.Exec("UPDATE tokens SET revoked_at = stoa_now() WHERE bot_id = $1", w.ids["Bot"])
	page := w.get(offered[0])
	w.shows(page.text, `href="/procedures/mailOwner?id=`+id+`">Mail owner</a>`,
		`<a href="/procedures/mailOwner?id=`+id+`&amp;about=access">Write to its owner how</a>`)
	accessible(t, offered[0], w.parse(page.text))
	stuck := w.get(offered[1]).text
	link := "/procedures/mailOwner?id=" + id + "&amp;about=order&amp;order=" + order
	require.Contains(t, stuck, `href="`+link+`"`)
	accessible(t, offered[1], w.parse(stuck))

	for about, holds := range map[string]string{
		"access": "https://stoa.example/owner/restore", "suspension": "is suspended", "order&order=" + order: "the order " + order + " (",
		"order&order=x": "", "x": "", "order&order=" + id: "",
	} {
		_, fields := w.form(w.page("/procedures/mailOwner?id=" + id + "&about=" + about))
		require.Contains(t, fields.Get("body"), holds, about)
		require.Equal(t, holds == "", fields.Get("body") == "", about)
	}
	action, fields := w.form(w.page("/procedures/mailOwner?id=" + id + "&about=order&order=" + order))
	require.Equal(t, "/procedures/mailOwner?id="+id, action)
	fields.Set("body", "Please have it look at its order.")
	fields.Set("reason", "stuck")
	done := w.post(action, fields)
	require.Equal(t, http.StatusOK, done.StatusCode, done.text)
	require.Contains(t, done.text, "An answer goes to the contact address")
	require.Equal(t, http.StatusOK, w.post(action, fields).StatusCode)
	require.Len(t, box.To("ada@example.org"), 1, "a form that is sent twice mails once")
	require.Contains(t, box.To("ada@example.org")[0].Text, "> Please have it look at its order.\r\n")
	for _, shown := range []string{done.text, w.get("/mails").text, w.get("/audit").text, w.get(offered[0]).text, w.log.String()} {
		require.NotContains(t, shown, "ada@example.org")
		require.NotContains(t, shown, "look at its order")
	}
}
