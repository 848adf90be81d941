package console_test

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// An export has every row that matches the filters, in the list's order, over all pages; a private list's needs a reason.
func TestExports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description)
		SELECT ('01a00000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, stoa_now() - n * interval '1 day', stoa_now(), $1,
		CASE n WHEN 1 THEN '=1+1' ELSE 's' || n END, 'text' FROM generate_series(1, 230) n`, agent.ID)
	answer := w.get("/services?format=csv")
	require.Equal(t, http.StatusOK, answer.StatusCode, answer.text)
	require.Equal(t, `attachment; filename="services.csv"`, answer.Header.Get("Content-Disposition"))
	rows, err := csv.NewReader(strings.NewReader(answer.text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 231)
	require.Equal(t, []string{"id", "title"}, rows[0][:2])
	require.Equal(t, "s230", rows[1][1], "newest ids first")
	require.Equal(t, "'=1+1", rows[230][1], "no formula")
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.get("/services?format=json&sort=CREATED_AT").text), &all))
	require.Len(t, all, 230)
	require.NoError(t, json.Unmarshal([]byte(w.get("/services?format=json&q=s23").text), &all))
	require.Len(t, all, 2)
	require.NoError(t, json.Unmarshal([]byte(w.get("/services?format=json&q=nothing-at-all").text), &all))
	require.Empty(t, all)
	for _, path := range []string{"/messages?format=csv", "/contacts?format=json", "/services?format=xml", "/messages/export"} {
		require.Equal(t, http.StatusNotFound, w.get(path).StatusCode, path)
	}
	require.NotContains(t, w.get("/mails").text, "format=csv")
}

// An export of a private list needs a reason. Before the first row is sent, the audit log has the operator, the list, the filters
// and the number of rows.
func TestExportsOfPrivateListsAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.Friends()
	for range 130 { // two pages of an export
		w.Sent(one, other)
	}
	w.Sent(other, one)
	path := "/messages/export?contactID=" + w.contact().String()
	form := func(text string) string {
		_, rest, found := strings.Cut(text, `<form method="post" action="/messages/export`)
		require.True(t, found)
		action, _, _ := strings.Cut(rest, `"`)
		return html.UnescapeString("/messages/export" + action)
	}
	chosen := "columns=recipientID&contactID=" + w.contact().String()
	require.Equal(t, "/messages/export?"+chosen, form(w.get("/messages?"+chosen).text))
	require.Equal(t, "/messages/export", form(w.get("/messages").text))

	refused := w.post(path, url.Values{"format": {"csv"}, "reason": {" "}})
	require.Equal(t, http.StatusBadRequest, refused.StatusCode)
	require.Equal(t, http.StatusNotFound, w.post(path, url.Values{"format": {"xml"}, "reason": {"why"}}).StatusCode)
	require.Equal(t, http.StatusForbidden, w.post(path, url.Values{"format": {"csv"}, "reason": {"why"}}, "Sec-Fetch-Site", "cross-site").StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, w.post("/services/export", url.Values{"format": {"csv"}, "reason": {"why"}}).StatusCode, "it is not private")
	require.Zero(t, w.Count("SELECT count(*) FROM audit_entries"))

	saved := w.post(path, url.Values{"format": {"csv"}, "reason": {"a court order"}})
	require.Equal(t, http.StatusOK, saved.StatusCode, saved.text)
	require.Equal(t, `attachment; filename="messages.csv"`, saved.Header.Get("Content-Disposition"))
	rows, err := csv.NewReader(strings.NewReader(saved.text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 132)
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM audit_entries WHERE procedure = 'exportList' AND operator = 'Ada' AND target = 'messages'
		AND reason = 'a court order' AND details = jsonb_build_object('rows', 131, 'format', 'csv', 'contactID', $1::text)`, w.contact().String()))
	require.Contains(t, w.get("/audit").text, "Export list")

	var all []map[string]any
	body := w.post("/contacts/export?columns=state", url.Values{"format": {"json"}, "reason": {"a court order"}}).text
	require.NoError(t, json.Unmarshal([]byte(body), &all), body)
	require.Len(t, all, 1)
	require.Equal(t, "accepted", all[0]["state"])
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries WHERE target = 'contacts' AND details->>'rows' = '1'"))
	require.Empty(t, w.log.text.String())
}

// contact returns the id of the only contact.
func (w *world) contact() (id uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.DB.SQL.QueryRowContext(w.t.Context(), "SELECT id FROM contacts").Scan(&id))
	return id
}
