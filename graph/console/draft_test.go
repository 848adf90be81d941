package console_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// own gives an agent an owner with the verified address ada@example.org.
func (w *world) own(id uuid.UUID) {
	w.t.Helper()
	w.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('ada@example.org', stoa_now(), 1) ON CONFLICT DO NOTHING")
	w.Exec("INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents) VALUES ($1, 'ada@example.org', stoa_now(), stoa_now(), '[]')", id)
}

// Mail to an owner is offered where it can be sent: on the agent's page, beside a session that has ended and on the page of a stuck order,
// each with a text to begin with. It reaches the owner, and no page shows the address.
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
	require.Contains(t, page.text, `href="/procedures/mailOwner?id=`+id+`">Mail owner</a>`)
	require.Contains(t, page.text, `<a href="/procedures/mailOwner?id=`+id+`&amp;about=access">Write to its owner how</a>`)
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
	again := w.post(action, fields)
	require.Equal(t, http.StatusOK, again.StatusCode)
	require.Len(t, box.To("ada@example.org"), 1, "a form that is sent twice mails once")
	require.Contains(t, box.To("ada@example.org")[0].Text, "> Please have it look at its order.\r\n")
	for _, shown := range []string{done.text, w.get("/mails").text, w.get("/audit").text, w.get(offered[0]).text, w.log.text.String()} {
		require.NotContains(t, shown, "ada@example.org")
		require.NotContains(t, shown, "look at its order")
	}
}
