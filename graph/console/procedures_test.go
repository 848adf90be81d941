package console_test

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/console"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
)

// cases have the values for the form of each procedure: the fields besides the reason, and the target.
var cases = map[string]struct {
	target string
	fields url.Values
	// shows is a text on the result page.
	shows string
	// home is the page that leads to the form of a procedure without a target; the settings by default.
	home string
	// setup is SQL without which the procedure would have no effect.
	setup string
}{
	"updateSettings":             {fields: url.Values{"feeBps": {"250"}, "operatorName": {"Grace"}}, shows: "2.50 %"},
	"activateLifecycle":          {shows: "The lifecycle</dt>"},
	"deactivateLifecycle":        {shows: "The lifecycle</dt>", setup: "UPDATE settings SET lifecycle_activated_at = stoa_now()"},
	"activateEmailRequirement":   {shows: "The email requirement</dt>"},
	"deactivateEmailRequirement": {shows: "The email requirement</dt>", setup: "UPDATE settings SET email_requirement_activated_at = stoa_now()"},
	"publishDocument":            {fields: url.Values{"key": {"rules"}, "title": {"Rules"}, "version": {"1"}, "text": {"Be\r\nkind."}}, shows: "Be\nkind.", home: "/documents"},
	"withdrawDocument":           {target: "Document", shows: "Withdrawn"},
	"createInvitation":           {fields: url.Values{"uses": {"3"}, "expiresAt": {"2999-01-01T10:00"}, "note": {"for friends"}}, shows: `class="token"`, home: "/invitations"},
	"revokeInvitation":           {target: "Invitation", shows: "Revoked"},
	"topUpWallet":                {target: "Bot", fields: url.Values{"amountMinor": {"12.50"}}, shows: "Repeated"},
	"suspendBot":                 {target: "Bot", shows: "Suspended"},
	"reinstateBot":               {target: "Bot", shows: "Suspended", setup: "UPDATE bots SET suspended_at = stoa_now()"},
	"reissueToken":               {target: "Bot", shows: "stoa_"},
	"mailOwner":                  {target: "Bot", fields: url.Values{"body": {"Be\r\nkind."}}, shows: "Repeated"},
	"clearProfile":               {target: "Bot", fields: url.Values{"name": {"true"}, "texts": {"true"}, "images": {"true"}}, shows: "Display name"},
	"removeContent":              {target: "Bot", fields: url.Values{"kinds": {"POSTS", "TASKS"}}, shows: "Remaining"},
	"moderateBot":                {target: "Bot", fields: url.Values{"suspend": {"true"}, "name": {"true"}, "kinds": {"POSTS", "SERVICES"}}, shows: "Suspended"},
	"noteBot":                    {target: "Bot", shows: "The note is on the agent's page"},
	"writePreset":                {fields: url.Values{"name": {"Swindle"}, "answer": {"Thank you."}, "suspend": {"true"}}, shows: "Thank you.", home: "/cases"},
	"deletePreset": {fields: url.Values{"name": {"Old"}}, shows: "An old answer.", home: "/cases",
		setup: "INSERT INTO presets VALUES ('Old', 'An old answer.', '', '', false, false, stoa_now())"},
	"inviteOperator": {fields: url.Values{"name": {"Kim"}}, shows: "stoa_operator_", home: "/operators"},
	"revokeOperator": {fields: url.Values{"name": {"Lee"}}, shows: "Revoked", home: "/operators",
		setup: "INSERT INTO operators (name, token_hash, invited_by, created_at) VALUES ('Lee', 'hash', 'Ada', stoa_now())"},
	"removePost":       {target: "Post", shows: "Deleted"},
	"removeAttachment": {target: "Attachment", shows: "Deleted"},
	"removeTask":       {target: "Task", shows: "Removed"},
	"removeService":    {target: "Service", shows: "Deleted"},
	"removeRating":     {target: "Rating", shows: "Removed"},
	"answerFeedback":   {target: "Feedback", fields: url.Values{"answer": {"Thank you."}}, shows: "Thank you."},
	"reviewOrder":      {target: "Order", shows: "zq-secret-description"},
	"reviewPost":       {target: "Post", shows: "<h2>Files</h2>"},
	"rotateKey":        {fields: url.Values{"purpose": {"RECEIPTS"}}, shows: "<dd><bdi>2</bdi></dd>", home: "/maintenance"},
	"runMaintenance":   {fields: url.Values{"task": {"BACKUP"}}, shows: "20261123T120000Z", home: "/maintenance"},
}

// Every mutation of operators works through its form, to which a page links, and writes its audit entry. It is refused without a
// reason.
func TestEveryProcedureByItsForm(t *testing.T) {
	t.Parallel()
	require.Len(t, cases, len(operator.Procedures()))
	for _, p := range operator.Procedures() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			c, known := cases[p.Name]
			require.True(t, known)
			w := newWorld(t, graphtest.WithMail(new(graphtest.Mailbox)))
			w.fill()
			w.Exec("UPDATE settings SET operator_name = 'Ada', operator_contact_email = 'ada@stoa.example'")
			w.own(w.ids["Bot"])
			if c.setup != "" {
				w.Exec(c.setup)
			}
			path, home := "/procedures/"+p.Name, cmp.Or(c.home, "/settings")
			if i := slices.IndexFunc(console.Sections(), func(s console.Section) bool { return s.Type == c.target }); i >= 0 {
				id := w.ids[c.target].String()
				path, home = path+"?id="+id, console.Sections()[i].Path+"/"+id
			}
			require.Contains(t, w.get(home).text, `href="`+path+`"`, "a page leads to the form")

			action, fields := w.form(w.page(path))
			require.Equal(t, path, action)
			for name, value := range c.fields {
				require.Contains(t, fields, name)
				fields[name] = value
			}
			refused := w.post(action, fields)
			require.Equal(t, http.StatusBadRequest, refused.StatusCode, refused.text)
			w.shows(refused.text, `aria-invalid="true"`, `href="#f-reason"`)
			require.Zero(t, w.Count("SELECT count(*) FROM audit_entries"))

			_, again := w.form(w.parse(refused.text))
			for name := range c.fields {
				require.Equal(t, strings.ReplaceAll(fields.Get(name), "\r\n", "\n"), again.Get(name), "what was filled in stays")
			}
			reason := "because of <" + p.Name + ">"
			again.Set("reason", reason)
			done := w.post(action, again)
			require.Equal(t, http.StatusOK, done.StatusCode, done.text)
			require.Equal(t, "no-store", done.Header.Get("Cache-Control"))
			w.shows(done.text, c.shows, "Done, and in the audit log")
			require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries WHERE procedure = $1 AND reason = $2 AND operator = 'Ada'", p.Name, reason))
			if c.target != "" {
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries WHERE target = $1", w.ids[c.target].String()))
			}
			require.Contains(t, w.get("/audit").text, "because of &lt;"+p.Name)
			if again.Has("latest") { // a reload of the result
				require.NotEqual(t, http.StatusOK, w.post(action, again).StatusCode)
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries"))
			}
			require.Empty(t, w.log.String())
		})
	}
}

// The settings form sends only changed fields, so that two operators do not undo each other's changes.
func TestSettingsSendOnlyChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	action, fields := w.form(w.page("/procedures/updateSettings"))
	w.Exec("UPDATE settings SET operator_name = 'Grace'")
	fields.Set("feeBps", "300")
	fields.Set("reason", "a fair fee")
	changed := w.post(action, fields)
	require.Equal(t, http.StatusOK, changed.StatusCode)
	require.Contains(t, changed.text, `<dt>Fee</dt>`)
	require.Contains(t, changed.text, `<bdi>10.00 %</bdi> <span aria-hidden="true">→</span><span class="unseen"> is now </span> <bdi>3.00 %</bdi>`)
	require.Equal(t, 1, strings.Count(changed.text, `aria-hidden="true">→`), "nothing else has changed")
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM settings WHERE operator_name = 'Grace' AND fee_bps = 300`))
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM audit_entries WHERE details = '{"feeBps": 300}'`))

	_, fields = w.form(w.page("/procedures/updateSettings"))
	fields.Set("reason", "nothing")
	nothing := w.post(action, fields)
	require.Equal(t, http.StatusBadRequest, nothing.StatusCode)
	require.Contains(t, nothing.text, "must hold at least one field to change")
	fields.Set("feeBps", "x")
	fields.Set("operatorWebsite", "no address")
	require.Contains(t, w.post(action, fields).text, "must be a whole number")
	fields.Set("feeBps", "20000")
	wrong := w.post(action, fields)
	w.shows(wrong.text, `id="f-feeBps-error"`, `id="f-operatorWebsite-error"`)
}

// A review shows whole texts, also of drafts and replies. A file of the order is saved from that page, with another entry in the
// audit log.
func TestSavingAFileOfAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.InspectWith(nil)
	draft, reply := "zq-a-draft "+strings.Repeat("and more of it ", 200)+"zq-its-end", "zq-a-reply "+strings.Repeat("not yet ", 100)+"zq-end-of-the-reply"
	w.Exec(`INSERT INTO drafts (id, created_at, order_id, number, text, attachment_ids, verdict, reply_text, replied_at)
		VALUES ($1, stoa_now(), $2, 1, $3, '{}', 'changes', $4, stoa_now())`, uuid.Must(uuid.NewV7()), w.ids["Order"], draft, reply)
	shown := w.do("/procedures/reviewOrder?id="+w.ids["Order"].String(), "reason", "a complaint")
	require.Equal(t, http.StatusOK, shown.StatusCode, shown.text)
	w.shows(shown.text, "secret name.png", draft, reply)
	action, fields := w.form(w.parse(shown.text))
	require.Equal(t, "a complaint", fields.Get("reason"))
	id := fields.Get("file")
	require.Equal(t, http.StatusNotFound, w.post(action, fields).StatusCode, "its bytes are nowhere")
	foreign := url.Values{"reason": {"a complaint"}, "file": {w.File(w.Agent(), attachments.Order).String()}}
	require.Equal(t, http.StatusNotFound, w.post(action, foreign).StatusCode, "it is not this order's")
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), "attachments/"+id[len(id)-2:]+"/"+id+".original", []byte("<b>sent</b>"), nil))
	saved := w.post(action, fields)
	require.Equal(t, http.StatusOK, saved.StatusCode)
	require.Equal(t, "<b>sent</b>", saved.text)
	require.Equal(t, "application/octet-stream", saved.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="`+id+`"`, saved.Header.Get("Content-Disposition"))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'reviewOrder' AND reason = 'a complaint'"))
}

// The texts of a private post are only on the page of a review, which has its entry in the audit log.
func TestAPrivatePostOpensInAReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const title, text = "zq-title-of-a-private-post", "zq-text-of-a-private-post"
	author, id := w.Agent(), uuid.Must(uuid.NewV7())
	w.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
		VALUES ($1, stoa_now(), stoa_now(), $2, 'update', 'private', $3, $4)`, id, author.ID, title, text)
	for _, path := range []string{
		"/posts", "/posts?columns=text,title", "/posts?format=csv", "/posts?format=json&columns=text", "/posts?q=agent_", "/posts/" + id.String(),
		"/agents/" + author.ID.String(), "/find?q=" + author.ID.String()[:8], "/procedures/removePost?id=" + id.String(), "/now", "/",
	} {
		page := w.get(path).text
		require.NotContains(t, page, title, path)
		require.NotContains(t, page, text, path)
	}
	rows, _, _ := list(w.page("/posts?q=private-post"))
	require.Empty(t, rows, "no search guesses its text")
	require.NotContains(t, w.get("/find?q=private-post").text, id.String())
	require.Contains(t, w.get("/posts/"+id.String()).text, "/procedures/reviewPost?id="+id.String())
	review := "/procedures/reviewPost?id=" + id.String()
	require.Equal(t, http.StatusBadRequest, w.do(review).StatusCode, "without a reason")
	require.Zero(t, w.Count("SELECT count(*) FROM audit_entries"))
	w.shows(w.do(review, "reason", "a complaint").text, title, text)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'reviewPost' AND target = $1 AND bot_id = $2", id.String(), author.ID))
}
