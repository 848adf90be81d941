package console_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/console"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/operator"
	"stoa/graph/platform/viewer"
)

// The overview shows the activity, as bars and as tables, things that need attention, and the processes.
func TestOverview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	require.NoError(t, w.Operator.RecordActivity(t.Context()))
	well, ill := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	require.NoError(t, w.Operator.RecordProcess(t.Context(), operator.Process{ID: well, Name: "one:1", Version: "1.2.3", Roles: []string{"api", "jobs"}, Failing: []string{}, DiskFreeBytes: 1 << 30, DiskTotalBytes: 4 << 30}))
	require.NoError(t, w.Operator.RecordProcess(t.Context(), operator.Process{ID: ill, Name: "two:2", Version: "1.2.3", Roles: []string{"api"}, Failing: []string{"new_connections"}, DiskFreeBytes: 1 << 20, DiskTotalBytes: 4 << 30}))
	page := w.get("/").text
	require.Equal(t, 12, strings.Count(page, "<svg"))
	w.shows(page,
		"Agents registered within the last hour: 2", "Messages sent within the last day: 1", "Orders made within the last month: 1", "Credits paid to contractors within the last hour: 0.00",
		"<strong>1</strong> <span><a href=\"/orders?attention=stuck", "order is disputed", "mail could not be sent yet", "webhook fails", "piece of feedback waits", "process has a disk that is nearly full", "process is not ready.",
		"process gets no new connections to the database", `href="/docs/runbook/StoaConnectionsRefused.md"`,
		"one:1", "1.0 GiB of 4.0 GiB free", "not ready: new_connections", "api, jobs", "The charts as tables")
	require.NotContains(t, page, "does not balance")
	w.Exec("UPDATE processes SET seen_at = stoa_now() - interval '2 minutes' WHERE id = $1", ill)
	require.NoError(t, w.Operator.ForgetProcess(t.Context(), well))
	page = w.get("/").text
	require.Contains(t, page, "process fell silent")
	require.NotContains(t, page, "one:1")
	require.Less(t, len(page), 50_000)
}

// An erasure that a dispute holds is on the overview, with its agent and its reason to wait.
func TestErasuresAreOnTheOverview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.get("/").text
	require.NotContains(t, page, "Erasures")
	w.shows(page, `<p class="calm">Nothing.</p>`, "Nothing happened.")
	require.Contains(t, w.get("/agents").text, "There is nothing yet.")
	agent, other := w.Agent(), w.Agent()
	w.Ordered(agent, other, "disputed")
	handle := w.handle(agent)
	graphtest.OK(t)(w.Lifecycle.RequestErasure(agent.Ctx, lifecycle.ErasureInput{OperationID: graphtest.Ptr(uuid.NewString()), ConfirmHandle: &handle}))
	page = w.get("/").text
	require.Contains(t, page, "1 pending, 0 partial.")
	graphtest.OK(t)(w.Lifecycle.RequestErasure(other.Ctx, lifecycle.ErasureInput{OperationID: graphtest.Ptr(uuid.NewString()), ConfirmHandle: graphtest.Ptr(w.handle(other))}))
	require.Contains(t, w.get("/").text, "2 pending, 0 partial.")
	graphtest.OK(t)(w.Lifecycle.CancelErasure(other.Ctx))
	w.Shift(8 * 24 * time.Hour)
	graphtest.OK(t)(w.Lifecycle.Erase(t.Context()))
	page = w.get("/").text
	require.Contains(t, page, "0 pending, 1 partial.")
	w.shows(page,
		`<a href="/agents/`+agent.ID.String()+`">@`+handle+`</a>`, `<span class="state ill">partial</span>`, ">open_orders</td>", ">agent</td>")
	w.Exec("UPDATE orders SET state = 'cancelled'")
	graphtest.OK(t)(w.Lifecycle.Erase(t.Context()))
	require.NotContains(t, w.get("/").text, "Erasures", "it is done")
}

// A shift shows events, the actions of named operators, their notes, and the state of the service. Its address may name the
// hours.
func TestAShift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Posted(agent, "A poem", "public")
	w.report(w.Agent(), "bot", agent.ID)
	w.post("/procedures/noteBot?id="+agent.ID.String(), url.Values{"reason": {"Wrote to us. " + hostile}})
	w.Exec(`INSERT INTO river_job (state, kind, args, max_attempts, attempt, attempted_at, finalized_at, queue, priority, errors)
		VALUES ('discarded', 'draw_faces', '{}', 3, 3, stoa_now(), stoa_now(), 'default', 1, ARRAY['{"error": "no paint"}'::jsonb])`)
	page := w.get("/shift")
	require.Equal(t, http.StatusOK, page.StatusCode, page.text)
	require.NotContains(t, page.text, "<script>alert")
	w.shows(content(w.page("/shift")), "Agents registered", "Posts", "Reports", "1 report waits", "Note agent", "Ada", "Wrote to us", "draw faces", "7 days",
		"1 failed for good", "no paint", "This process has no backup in its data folder", "make one now", "0 entries, 2 waiting")
	require.Contains(t, page.text, "/posts?createdAtGTE=")
	require.NotContains(t, page.text, "since I left", "nobody knows who has the installation's token")
	require.Contains(t, page.text, `<a href="/shift?hours=12" aria-current="true">12 hours`)

	made := time.Now().Add(-50 * time.Hour)
	w.Operator.LastBackup = func(context.Context) (*operator.Backup, error) {
		return &operator.Backup{Name: "2026-11-21", SizeBytes: 3 << 20, MadeAt: made}, nil
	}
	w.shows(content(w.page("/shift?hours=168")), "2 days old, 3.0 MiB", "not verified yet")
	w.Operator.LastBackup = func(context.Context) (*operator.Backup, error) {
		return &operator.Backup{Name: "2026-11-21", MadeAt: made, VerifiedAt: &made, Damaged: 2}, nil
	}
	w.shows(content(w.page("/shift?hours=24")), "2 damaged files")
	for _, act := range []string{"suspend", "suspend", "name"} {
		require.Equal(t, http.StatusOK, w.do("/procedures/moderateBot?id="+w.Agent().ID.String(), act, "true", "reason", "a swindler").StatusCode)
	}
	w.shows(content(w.page("/shift")), "Moderate agent (2 suspensions)")
	for _, wrong := range []string{"x", "-1", "721"} {
		answer := w.get("/shift?hours=" + wrong)
		require.Equal(t, http.StatusBadRequest, answer.StatusCode, wrong)
		w.shows(answer.text, "Hours must be a whole number up to 720.")
	}
}

// Each number of a shift and of the table of earners links to a list of that length: orders that were closed or disputed since
// then, whatever their age and the outcome of the dispute.
func TestNumbersLeadToTheirLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Friends()
	deal := func(state, outcome string, made, done time.Duration, actions ...string) {
		id, at := w.Ordered(customer, contractor, state), w.Now().Add(-done)
		w.Exec("UPDATE orders SET created_at = $2, updated_at = $2, outcome = nullif($3, '') WHERE id = $1",
			id, w.Now().Add(-made), outcome)
		for i, action := range actions {
			column, after := "closed_at", "closed"
			if action == "dispute" {
				column, after = "disputed_at", "disputed"
			}
			w.Exec("UPDATE orders SET "+column+" = $1 WHERE id = $2", at, id)
			w.Exec("INSERT INTO order_events VALUES ($1, $2, $3, $4, $5, $6, $7)", uuid.Must(uuid.NewV7()), at, id, action, customer.ID, after, i)
		}
	}
	deal("closed", "accepted", 40*24*time.Hour, time.Hour, "complete")
	deal("closed", "accepted", 50*24*time.Hour, 45*24*time.Hour, "complete")
	deal("closed", "refunded", 20*24*time.Hour, time.Hour, "dispute", "approve-refund")
	deal("disputed", "", 20*24*time.Hour, 2*time.Hour, "dispute")
	deal("disputed", "", 20*24*time.Hour, 19*24*time.Hour, "dispute")
	deal("offered", "", time.Hour, time.Hour)
	counted := map[string]string{}
	for n := range w.page("/shift").Descendants() {
		if n.Data == "dd" && n.Parent.Data == "div" {
			link := n.FirstChild
			counted[content(n.PrevSibling)] = content(link)
			rows, _, _ := list(w.page(attribute(link, "href")))
			require.Equal(t, content(link), strconv.Itoa(len(rows)), attribute(link, "href"))
		}
	}
	require.Equal(t, map[string]string{"Agents registered": "2", "Orders made": "1", "Orders closed": "2", "Disputes": "2"}, counted)
	for n := range w.page("/books?days=30").Descendants() {
		if href := attribute(n, "href"); strings.Contains(href, "outcome=accepted") && content(n) == "1.00" {
			rows, _, _ := list(w.page(href))
			require.Len(t, rows, 1, href)
			counted[href] = "earned"
		}
	}
	require.Len(t, counted, 5, "the contractor earned 1.00")
}

// The list of operators shows which tokens are valid. Pages and exports name the number of things that they leave out.
func TestPagesNameOmittedRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shows(content(w.page("/operators")), "No operator has one yet")
	for _, name := range []string{"Kim", "Lee <b>"} {
		require.Equal(t, http.StatusOK, w.post("/procedures/inviteOperator", url.Values{"name": {name}, "reason": {"joins us"}}).StatusCode)
	}
	require.Equal(t, http.StatusOK, w.post("/procedures/revokeOperator", url.Values{"name": {"kim"}, "reason": {"left us"}}).StatusCode)
	w.shows(w.get("/operators").text, "Lee &lt;b&gt;", "in force", "revoked", "/audit?operator=Kim", ">Ada<")
	require.NotContains(t, w.get("/cases").text+w.get("/operators").text, "are shown")
	w.Exec(`INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, encryption_public_key)
		SELECT gen_random_uuid(), now(), now(), now(), 'stoa_' || n, 'Stoa support', sha256(n::text::bytea) FROM generate_series(1, 101) AS n`)
	w.Exec("INSERT INTO presets SELECT 'p' || n, '', '', '', false, false, now() FROM generate_series(1, 101) AS n")
	for _, path := range []string{"/", "/now", "/shift"} {
		w.shows(w.get(path).text, "101</strong>", "agents have names like the platform", `">@stoa_`, "looks like the platform", "and 81 more")
	}
	require.Equal(t, 1, strings.Count(w.get("/cases").text, "At most 100 are shown."), "the presets")
	w.Exec("DELETE FROM presets")
	w.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text, state, subject_type, subject_id, subject_bot_id)
		SELECT gen_random_uuid(), now(), $1, 'report', 'x', 'open', 'bot', b.id, b.id FROM bots b WHERE b.handle LIKE 'stoa%'`, w.Agent().ID)
	require.Equal(t, 1, strings.Count(w.get("/cases").text, "At most 100 are shown."))
	w.Exec("INSERT INTO operators (name, invited_by, created_at, token_hash) SELECT 'o' || n, 'o', now(), sha256(n::text::bytea) FROM generate_series(1, 101) AS n")
	require.Contains(t, w.get("/operators").text, "At most 100 are shown.")

	const more = "There are more: an export has 10,000 rows at most."
	w.Exec("INSERT INTO invitations (id, created_at, code_hash, uses) SELECT gen_random_uuid(), now(), sha256(n::text::bytea), 1 FROM generate_series(1, 10000) AS n")
	require.NotContains(t, w.get("/invitations?format=csv&columns=uses").text, more)
	w.Exec("INSERT INTO invitations (id, created_at, code_hash, uses) SELECT gen_random_uuid(), now(), sha256('x'), 1")
	rows := graphtest.Got(csv.NewReader(strings.NewReader(w.get("/invitations?format=csv&columns=uses").text)).ReadAll())(t)
	require.Len(t, rows, 1+10_000+1)
	require.Equal(t, more, rows[10_001][0])
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.get("/invitations?format=json&columns=uses").text), &all))
	require.Len(t, all, 10_000+1)
	require.Equal(t, more, all[10_000]["id"])
}

// An export has every row that matches the filters, in the list's order, over all pages; a private list's export needs a reason.
// Rows, for the command line, reads them up to a limit.
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
	rows := graphtest.Got(csv.NewReader(strings.NewReader(answer.text)).ReadAll())(t)
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
	listed := console.Sections()[slices.IndexFunc(console.Sections(), func(s console.Section) bool { return s.Path == "/services" })]
	for _, c := range []struct {
		sort               string
		limit, rows, asked int
		first              string
	}{{"", 0, 230, 3, "s230"}, {"", 150, 150, 2, "s230"}, {"CREATED_AT", 20, 20, 1, "s230"}, {"-CREATED_AT", 0, 230, 3, "=1+1"}} {
		asked := 0
		found := graphtest.Got(console.Rows(t.Context(), func(ctx context.Context, document string, sent map[string]any) (data map[string]any, err error) {
			asked++
			ada := viewer.With(ctx, viewer.Viewer{Kind: viewer.Operator, Name: "Ada"})
			err = json.Unmarshal(w.ask(ada, document, sent).Data, &data)
			return data, err
		}, listed, nil, c.sort, c.limit))(t)
		require.Len(t, found, c.rows)
		require.Equal(t, c.first, found[0]["title"])
		require.Equal(t, c.asked, asked, "an answer has 100 rows at most")
	}
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
	contact := graphtest.Column[uuid.UUID](w.World, "SELECT id FROM contacts")[0].String()
	path := "/messages/export?contactID=" + contact
	form := func(text string) string {
		_, rest, found := strings.Cut(text, `<form method="post" action="/messages/export`)
		require.True(t, found)
		action, _, _ := strings.Cut(rest, `"`)
		return html.UnescapeString("/messages/export" + action)
	}
	chosen := "columns=recipientID&contactID=" + contact
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
	rows := graphtest.Got(csv.NewReader(strings.NewReader(saved.text)).ReadAll())(t)
	require.Len(t, rows, 132)
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM audit_entries WHERE procedure = 'exportList' AND operator = 'Ada' AND target = 'messages'
		AND reason = 'a court order' AND details = jsonb_build_object('rows', 131, 'format', 'csv', 'contactID', $1::text)`, contact))
	require.Contains(t, w.get("/audit").text, "Export list")

	var all []map[string]any
	body := w.post("/contacts/export?columns=state", url.Values{"format": {"json"}, "reason": {"a court order"}}).text
	require.NoError(t, json.Unmarshal([]byte(body), &all), body)
	require.Len(t, all, 1)
	require.Equal(t, "accepted", all[0]["state"])
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM audit_entries WHERE target = 'contacts' AND details->>'rows' = '1'"))
	acts := w.post("/audit/export?columns=details", url.Values{"format": {"csv"}, "reason": {"a court order"}}).text
	require.Contains(t, acts, `"{""columns"":""state"",""format"":""json"",""rows"":1}"`)
	require.Empty(t, w.log.String())
}
