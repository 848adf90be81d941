package operatorpages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
)

// trials fill in the form of each procedure: what to choose beside the reason, and the entity that it is done to.
var trials = map[string]struct {
	target string
	fields url.Values
	// shows is what the page after it holds.
	shows string
}{
	"updateSettings":             {fields: url.Values{"feeBps": {"250"}, "operatorName": {"Grace"}}, shows: "2.50 %"},
	"activateLifecycle":          {shows: "The lifecycle: on"},
	"deactivateLifecycle":        {shows: "The lifecycle: off"},
	"activateEmailRequirement":   {shows: "The email requirement: on"},
	"deactivateEmailRequirement": {shows: "The email requirement: off"},
	"publishDocument":            {fields: url.Values{"key": {"rules"}, "title": {"Rules"}, "version": {"1"}, "text": {"Be\r\nkind."}}, shows: "Be\nkind."},
	"withdrawDocument":           {target: "Document", shows: "Withdrawn"},
	"createInvitation":           {fields: url.Values{"uses": {"3"}, "expiresAt": {"2999-01-01T10:00"}, "note": {"for friends"}}, shows: `class="token"`},
	"revokeInvitation":           {target: "Invitation", shows: "Revoked"},
	"topUpWallet":                {target: "Bot", fields: url.Values{"amountMinor": {"12.50"}}, shows: "Repeated"},
	"suspendBot":                 {target: "Bot", shows: "Suspended"},
	"reinstateBot":               {target: "Bot", shows: "Suspended"},
	"reissueToken":               {target: "Bot", shows: "stoa_"},
	"removePost":                 {target: "Post", shows: "Deleted"},
	"removeAttachment":           {target: "Attachment", shows: "Deleted"},
	"removeTask":                 {target: "Task", shows: "Removed"},
	"removeService":              {target: "Service", shows: "Deleted"},
	"removeRating":               {target: "Rating", shows: "Removed"},
	"answerFeedback":             {target: "Feedback", fields: url.Values{"answer": {"Thank you."}}, shows: "Thank you."},
	"reviewOrder":                {target: "Order", shows: "zq-description-of-the-order"},
	"runMaintenance":             {fields: url.Values{"task": {"BACKUP"}}, shows: "20261123T120000Z"},
}

var pathsOf = map[string]string{
	"Bot": "/agents/", "Document": "/documents/", "Invitation": "/invitations/", "Post": "/posts/", "Attachment": "/files/", "Task": "/tasks/", "Service": "/services/",
	"Feedback": "/feedback/", "Order": "/orders/", "Rating": "/ratings/",
}

// Every mutation of the operators is done by its form, which a page leads to, and leaves its audit entry; without a reason it is not
// done.
func TestEveryProcedureByItsForm(t *testing.T) {
	t.Parallel()
	require.Len(t, trials, len(operator.Procedures()))
	for _, p := range operator.Procedures() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			trial, known := trials[p.Name]
			require.True(t, known)
			d := newDesk(t, graphtest.WithMail(new(graphtest.Mailbox)))
			d.sow()
			d.Exec("UPDATE settings SET operator_name = 'Ada', operator_contact_email = 'ada@stoa.example'")
			path, home := "/procedures/"+p.Name, "/settings"
			switch {
			case trial.target != "":
				path, home = path+"?id="+d.ids[trial.target].String(), pathsOf[trial.target]+d.ids[trial.target].String()
			case p.Name == "publishDocument":
				home = "/documents"
			case p.Name == "createInvitation":
				home = "/invitations"
			case p.Name == "runMaintenance":
				home = "/maintenance"
			}
			require.Contains(t, d.get(home).text, `href="`+path+`"`, "a page leads to the form")

			action, fields := d.form(d.page(path))
			require.Equal(t, path, action)
			for name, value := range trial.fields {
				require.Contains(t, fields, name)
				fields[name] = value
			}
			refused := d.post(action, fields)
			require.Equal(t, http.StatusBadRequest, refused.StatusCode, refused.text)
			require.Contains(t, refused.text, `aria-invalid="true"`)
			require.Contains(t, refused.text, `href="#f-reason"`)
			require.Zero(t, d.Count("SELECT count(*) FROM audit_entries"))

			_, again := d.form(d.parse(refused.text))
			for name := range trial.fields {
				require.Equal(t, strings.ReplaceAll(fields.Get(name), "\r\n", "\n"), again.Get(name), "what was filled in stays")
			}
			reason := "because of <" + p.Name + ">"
			again.Set("reason", reason)
			done := d.post(action, again)
			text := done.text
			if done.StatusCode == http.StatusSeeOther {
				require.NotContains(t, done.Header.Get("Location"), "reason")
				text = d.get(done.Header.Get("Location")).text
			} else {
				require.Equal(t, http.StatusOK, done.StatusCode, done.text)
			}
			require.Equal(t, "no-store", done.Header.Get("Cache-Control"))
			require.Contains(t, text, trial.shows)
			require.Contains(t, text, "Done, and in the audit log", text)
			require.EqualValues(t, 1, d.Count("SELECT count(*) FROM audit_entries WHERE procedure = $1 AND reason = $2 AND operator = 'Ada'", p.Name, reason))
			if trial.target != "" {
				require.EqualValues(t, 1, d.Count("SELECT count(*) FROM audit_entries WHERE target = $1", d.ids[trial.target].String()))
			}
			require.Contains(t, d.get("/audit").text, "because of &lt;"+p.Name)
			require.Empty(t, d.log.text.String())
		})
	}
}

// A form of another site, or of another port of this host, changes nothing.
func TestOtherSitesCannotSendAForm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	agent := d.Agent()
	form := url.Values{"reason": {"because"}}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "", "Origin", "http://evil.example"},
		{"Sec-Fetch-Site", "", "Origin", "null"}, {"Sec-Fetch-Site", ""},
	} {
		require.Equal(t, http.StatusForbidden, d.post("/procedures/suspendBot?id="+agent.ID.String(), form, headers...).StatusCode, headers)
	}
	require.Equal(t, http.StatusUnauthorized, d.post("/procedures/suspendBot?id="+agent.ID.String(), form, "Cookie", "").StatusCode)
	d.get("/procedures/suspendBot?reason=because&id=" + agent.ID.String())
	require.Zero(t, d.Count("SELECT count(*) FROM audit_entries"))
	require.Equal(t, http.StatusSeeOther, d.post("/procedures/suspendBot?id="+agent.ID.String(), form).StatusCode)
}

// Only what was changed in the form of the settings is sent, so that two operators do not undo each other's changes.
func TestSettingsSendWhatChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	action, fields := d.form(d.page("/procedures/updateSettings"))
	d.Exec("UPDATE settings SET operator_name = 'Grace'")
	fields.Set("feeBps", "300")
	fields.Set("reason", "a fair fee")
	require.Equal(t, http.StatusSeeOther, d.post(action, fields).StatusCode)
	require.EqualValues(t, 1, d.Count(`SELECT count(*) FROM settings WHERE operator_name = 'Grace' AND fee_bps = 300`))
	require.EqualValues(t, 1, d.Count(`SELECT count(*) FROM audit_entries WHERE details = '{"feeBps": 300}'`))

	_, fields = d.form(d.page("/procedures/updateSettings"))
	fields.Set("reason", "nothing")
	nothing := d.post(action, fields)
	require.Equal(t, http.StatusBadRequest, nothing.StatusCode)
	require.Contains(t, nothing.text, "must hold at least one field to change")
	fields.Set("feeBps", "x")
	fields.Set("operatorWebsite", "no address")
	require.Contains(t, d.post(action, fields).text, "must be a whole number")
	fields.Set("feeBps", "20000")
	wrong := d.post(action, fields)
	require.Contains(t, wrong.text, `id="f-feeBps-error"`)
	require.Contains(t, wrong.text, `id="f-operatorWebsite-error"`)
}

// What may be switched on only once it is set up says what is missing, and why it was refused.
func TestSwitchesSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	page := d.get("/settings").text
	require.Contains(t, page, "a document that owners confirm")
	require.Contains(t, page, "sending mail, which this installation cannot")
	action, fields := d.form(d.page("/procedures/activateLifecycle"))
	fields.Set("reason", "because")
	refused := d.post(action, fields)
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Contains(t, refused.text, "The lifecycle cannot be switched on yet")
	require.Zero(t, d.Count("SELECT count(*) FROM audit_entries"))
}

// A form that is sent twice tops up once.
func TestAFormSentTwiceTopsUpOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	agent := d.Agent()
	action, fields := d.form(d.page("/procedures/topUpWallet?id=" + agent.ID.String()))
	_, err := uuid.Parse(fields.Get("operationId"))
	require.NoError(t, err)
	fields.Set("amountMinor", "12.50")
	fields.Set("reason", "a prize")
	for range 2 {
		require.Equal(t, http.StatusOK, d.post(action, fields).StatusCode)
	}
	require.EqualValues(t, 1250, d.Count("SELECT coalesce(sum(delta_minor), 0) FROM ledger_entries WHERE kind = 'top_up' AND bot_id = $1", agent.ID))
}

// What is made once is on the page that answers the form, and nowhere else.
func TestSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	agent := d.Agent()
	for path, holds := range map[string]string{"/procedures/createInvitation": "", "/procedures/reissueToken?id=" + agent.ID.String(): "stoa_"} {
		action, fields := d.form(d.page(path))
		fields.Set("reason", "because")
		done := d.post(action, fields)
		require.Equal(t, http.StatusOK, done.StatusCode)
		_, after, found := strings.Cut(done.text, `class="token"`)
		require.True(t, found)
		_, after, _ = strings.Cut(after, ">")
		secret, _, _ := strings.Cut(after, "<")
		require.Contains(t, secret, holds)
		require.Greater(t, len(secret), 15)
		d.secrets = append(d.secrets, secret)
	}
	d.crawlFor(d.secrets)
	require.NotContains(t, d.log.text.String(), d.secrets[0])
}

// crawlFor requires that no page holds any of the texts.
func (d *desk) crawlFor(secrets []string) {
	d.t.Helper()
	for _, path := range []string{"/", "/invitations", "/agents", "/audit", "/settings"} {
		rows, _, _ := list(d.page(path))
		for _, at := range append(rows, path) {
			if at == "" {
				continue
			}
			text := d.get(at).text
			for _, secret := range secrets {
				require.NotContains(d.t, text, secret, at)
			}
		}
	}
}

// A file of an order is saved from the page that shows the order's texts, and that is another entry in the audit log.
func TestSavingAFileOfAnOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sow()
	store, err := attachments.OpenStore(t.Context(), "", t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	d.Attachments.Store = store
	action, fields := d.form(d.page("/procedures/reviewOrder?id=" + d.ids["Order"].String()))
	fields.Set("reason", "a complaint")
	shown := d.post(action, fields)
	require.Equal(t, http.StatusOK, shown.StatusCode, shown.text)
	require.Contains(t, shown.text, "secret name.png")
	action, fields = d.form(d.parse(shown.text))
	require.Equal(t, "a complaint", fields.Get("reason"))
	id := fields.Get("file")
	require.Equal(t, http.StatusNotFound, d.post(action, fields).StatusCode, "its bytes are nowhere")
	require.NoError(t, store.WriteAll(t.Context(), "attachments/"+id[len(id)-2:]+"/"+id+".original", []byte("<b>sent</b>"), nil))
	saved := d.post(action, fields)
	require.Equal(t, http.StatusOK, saved.StatusCode)
	require.Equal(t, "<b>sent</b>", saved.text)
	require.Equal(t, "application/octet-stream", saved.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="`+id+`"`, saved.Header.Get("Content-Disposition"))
	require.EqualValues(t, 3, d.Count("SELECT count(*) FROM audit_entries WHERE procedure = 'reviewOrder' AND reason = 'a complaint'"))
}
