package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An agent's page shows its face, its state and what it did, and offers only what can be done now.
func TestAnAgentsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id := w.ids["Bot"].String()
	w.Exec("UPDATE bots SET handle = 'vex', display_name = 'Platform Support' WHERE id = $1", id)
	page := w.get("/agents/" + id).text
	for _, text := range []string{
		`<img src="/faces/` + id + `.svg" alt=""`, "<h1 dir=\"auto\">@vex</h1>", "poses as the platform", `<span class="state">active</span>`,
		`href="https://stoa.example/@vex"`, "Rated as contractor", "In escrow", "Disputed by", "Contacts", "Webhooks", "Ratings it gave", "/procedures/suspendBot",
	} {
		require.Contains(t, page, text)
	}
	require.NotContains(t, page, "/procedures/reinstateBot")
	face := w.get("/faces/" + id + ".svg")
	require.Equal(t, "image/svg+xml", face.Header.Get("Content-Type"))
	require.Equal(t, http.StatusNotFound, w.get("/faces/x.svg").StatusCode)

	action, fields := w.form(w.page("/procedures/moderateBot?id=" + id))
	consequences := w.get(action).text
	require.Contains(t, consequences, "What a suspension does")
	require.Contains(t, consequences, "@vex is suspended", "as it will be")
	fields.Set("suspend", "true")
	fields.Set("name", "true")
	fields["kinds"] = []string{"POSTS", "SERVICES"}
	fields.Set("reason", "a swindler")
	done := w.post(action, fields)
	require.Equal(t, http.StatusOK, done.StatusCode, done.text)
	require.Contains(t, done.text, "What changed")
	require.Contains(t, done.text, `<span class="state">active</span> <span aria-hidden="true">→</span><span class="unseen"> is now </span> <span class="state">suspended</span>`)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries"))
	require.Zero(t, w.Count("SELECT count(*) FROM posts WHERE deleted_at IS NULL"))
	require.Zero(t, w.Count("SELECT count(*) FROM services WHERE deleted_at IS NULL"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM tasks WHERE state = 'open'"))

	page = w.get("/agents/" + id).text
	require.Contains(t, page, `<span class="state ill">suspended</span>`)
	require.NotContains(t, page, `<span class="state">active</span>`)
	require.NotContains(t, page, "/procedures/suspendBot")
	require.Contains(t, page, "/procedures/reinstateBot")
	require.NotContains(t, page, "https://stoa.example/@vex")
	require.Contains(t, page, "Moderate agent</bdi>", "the audit entry")
	require.NotContains(t, w.get("/agents?q=vex").text, `<span class="state">active</span>`)
}

// A result shows the balance before and after.
func TestATopUpShowsBothBalances(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec("UPDATE accounts SET available_minor = 5000 WHERE bot_id = $1", agent.ID)
	action, fields := w.form(w.page("/procedures/topUpWallet?id=" + agent.ID.String()))
	fields.Set("amountMinor", "12.50")
	fields.Set("reason", "a prize")
	done := w.post(action, fields).text
	require.Contains(t, done, `<dt>Available</dt>`)
	require.Contains(t, done, `<bdi>50.00</bdi> <span aria-hidden="true">→</span><span class="unseen"> is now </span> <bdi>62.50</bdi>`)
}

// States are true, what is done already is not offered, and a stuck order says why and what operators cannot do.
func TestStatesAreTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	task, order := w.ids["Task"].String(), w.ids["Order"].String()
	require.Contains(t, w.get("/tasks").text, `<span class="state">open</span>`)
	w.Exec("UPDATE tasks SET removed_at = stoa_now()")
	for _, path := range []string{"/tasks", "/tasks/" + task} {
		page := w.get(path).text
		require.NotContains(t, page, `<span class="state">open</span>`, path)
		require.Contains(t, page, `<span class="state">removed</span>`, path)
		require.NotContains(t, page, "/procedures/removeTask", path)
	}
	page := w.get("/orders/" + order).text
	require.Contains(t, page, "A refund needs both")
	require.Contains(t, page, "Operators cannot end an order")
}

// Ledger, messages, events and the audit log show handles for ids.
func TestListsShowHandles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id := w.ids["Bot"].String()
	w.Exec("UPDATE bots SET handle = 'pia' WHERE id = $1", id)
	w.Exec(`INSERT INTO audit_entries (id, created_at, operator, procedure, target, reason, details)
		VALUES (gen_random_uuid(), stoa_now(), 'Ada', 'suspendBot', $1::text, 'why', '{}')`, id)
	for _, path := range []string{"/ledger", "/messages", "/events", "/audit"} {
		require.Contains(t, w.get(path).text, `<a href="/agents/`+id+`"><bdi>@pia</bdi></a>`, path)
	}
}

// Now shows the last hour, open orders and what needs attention; a kind can be chosen.
func TestNowPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	page := w.get("/now")
	for _, text := range []string{"The last hour", "asks for", "joined", "Needs attention", "/orders/" + w.ids["Order"].String(), "Runbook"} {
		require.Contains(t, page.text, text)
	}
	accessible(t, "/now", w.parse(page.text))
	only := w.get("/now?kind=joined").text
	require.Contains(t, only, "joined")
	require.NotContains(t, only, "asks for")
}

// The books add up, and an agent's statement can be saved as CSV that no spreadsheet takes for formulas.
func TestBooksPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	page := w.get("/books").text
	require.Contains(t, page, "Wallets, escrow and fees add up to what was issued")
	require.Contains(t, page, "0 discrepancies")
	require.Contains(t, w.get("/books?format=csv").text, "difference_minor\n")
	statement := w.get("/books/agents/" + agent.ID.String())
	require.Contains(t, statement.text, "Grant")
	accessible(t, "/books/agents", w.parse(statement.text))
	_, rest, found := strings.Cut(statement.text, `href="/books/transactions/`)
	require.True(t, found)
	transaction, _, _ := strings.Cut(rest, `"`)
	lines := w.get(w.get("/books/transactions/" + transaction).Header.Get("Location")).text
	require.Contains(t, lines, "issuance")
	require.Contains(t, lines, "available")
	csv := w.get("/books/agents/" + agent.ID.String() + "?format=csv")
	require.Equal(t, "text/csv; charset=utf-8", csv.Header.Get("Content-Type"))
	require.Equal(t, 2, strings.Count(csv.text, "\n"), csv.text)
	require.Contains(t, csv.text, "1,")
	require.Equal(t, http.StatusNotFound, w.get("/books/agents/01a20004-0000-7000-8000-000000000000").StatusCode)
}
