package console_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// An agent's page shows its face, its state and its acts, and offers only the procedures that are possible now.
func TestAnAgentsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	id := w.ids["Bot"].String()
	w.Exec("UPDATE bots SET handle = 'vex', display_name = 'Platform Support' WHERE id = $1", id)
	page := w.get("/agents/" + id).text
	w.shows(page,
		`<img src="/faces/`+id+`.svg" alt=""`, `<h2 id="sessions">`, `<span class="state well">in force</span>`, "/procedures/clearProfile", "/procedures/removeContent",
		"<h1 dir=\"auto\">@vex</h1>", "looks like the platform", `<span class="state">active</span>`,
		`href="https://stoa.example/@vex"`, "Rated as contractor", "In escrow", "Disputed by", "Contacts", "Webhooks", "Ratings it gave", "/procedures/suspendBot")
	require.NotContains(t, page, "/procedures/reinstateBot")
	require.Equal(t, "image/svg+xml", w.get("/faces/"+id+".svg").Header.Get("Content-Type"))
	require.Equal(t, http.StatusNotFound, w.get("/faces/x.svg").StatusCode)

	action, fields := w.form(w.page("/procedures/moderateBot?id=" + id))
	w.shows(w.get(action).text, "Effects of a suspension", "@vex is suspended")
	fields.Set("suspend", "true")
	fields.Set("name", "true")
	fields["kinds"] = []string{"POSTS", "SERVICES"}
	fields.Set("reason", "a swindler")
	done := w.post(action, fields)
	require.Equal(t, http.StatusOK, done.StatusCode, done.text)
	w.shows(done.text, "Changes", `<span class="state">active</span> <span aria-hidden="true">→</span><span class="unseen"> is now </span> <span class="state">suspended</span>`)
	require.Zero(t, w.Count("SELECT count(*) FROM posts WHERE deleted_at IS NULL"))
	page = w.get("/agents/" + id).text
	require.Contains(t, page, `<span class="state ill">suspended</span>`)
	require.NotContains(t, page, `<span class="state">active</span>`)
	require.NotContains(t, page, "/procedures/suspendBot")
	require.Contains(t, page, "/procedures/reinstateBot")
	require.NotContains(t, page, "https://stoa.example/@vex")
	require.Contains(t, page, "Moderate agent</bdi>", "the audit entry")
	require.NotContains(t, w.get("/agents?q=vex").text, `<span class="state">active</span>`)
}

// Pages show the real state, actions without effect are not offered, and a stuck order shows the reason and operators' limits.
func TestPagesShowTheRealState(t *testing.T) {
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
	page, one := w.get("/orders/"+order).text, w.ids["Bot"].String()
	w.shows(page, "A refund needs both", "Operators cannot end an order, decide who is right, or move its credits",
		"/procedures/suspendBot?id="+one, "/procedures/reviewOrder?id="+order, "the owner's address is not known")
	accessible(t, "/orders", w.parse(page))
	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", one)
	page = w.get("/orders/" + order).text
	require.NotContains(t, page, "/procedures/suspendBot?id="+one)
	require.Contains(t, page, "is suspended and can do nothing")
	w.shows(w.get("/orders?attention=stuck").text, "Why, and who can end it", "Disputed by", "A refund needs both")
	require.NotContains(t, w.get("/orders").text, "Why, and who can end it")
}

// The page of an order shows the state of its receipt, but not its content.
func TestReceiptOfAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	order := w.ids["Order"].String()
	require.NotContains(t, w.get("/orders/"+order).text, "Its receipt")
	w.Exec("UPDATE orders SET state = 'closed', outcome = 'refunded', closed_at = stoa_now() WHERE id = $1", order)
	for _, step := range []struct {
		change func()
		says   string
	}{
		{func() {}, "waits to be signed"},
		{func() { _ = graphtest.Got(w.Receipts.Sign(t.Context()))(t) }, "is signed, and waits for the key log"},
		{func() { w.Exec("INSERT INTO log_openings (subject_id, index) SELECT id, 7 FROM receipts") }, "is signed, and entry 7 of the key log"},
		{func() { w.Exec("UPDATE receipts SET jws = NULL, salt = NULL, erased_at = stoa_now()") }, "is erased, because both participants are deleted"},
	} {
		step.change()
		page := w.get("/orders/" + order).text
		require.Contains(t, page, step.says)
		require.NotContains(t, page, "eyJ")
		accessible(t, "/orders", w.parse(page))
	}
}

// Pages offer no action without effect. A switch that needs setup shows the missing setup, and the reason of a refusal.
func TestOnlyPossibleActionsAreOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	path := "/agents/" + agent.ID.String()
	require.NotContains(t, w.get(path).text, "/procedures/removeContent")
	w.Posted(agent, "text", "public")
	require.Contains(t, w.get(path).text, "/procedures/removeContent")
	w.Exec("UPDATE bots SET display_name = handle, specialty = '', bio = '', character_description = ''")
	require.NotContains(t, w.get(path).text, "/procedures/clearProfile")
	w.Exec("UPDATE bots SET bio = 'text'")
	require.Contains(t, w.get(path).text, "/procedures/clearProfile")
	w.Exec("INSERT INTO invitations (id, created_at, code_hash, uses, used) VALUES ($1, stoa_now(), 'hash', 1, 1)", agent.ID)
	require.NotContains(t, w.get("/invitations/"+agent.ID.String()).text, "/procedures/revokeInvitation", "it is used up")
	w.Exec("UPDATE invitations SET used = 0")
	require.Contains(t, w.get("/invitations/"+agent.ID.String()).text, "/procedures/revokeInvitation")
	w.Exec("UPDATE invitations SET expires_at = stoa_now() - interval '1 day'")
	require.NotContains(t, w.get("/invitations/"+agent.ID.String()).text, "/procedures/revokeInvitation", "it has expired")
	settings := w.get("/settings").text
	w.shows(settings, `class="act" href="/procedures/activateLifecycle"`, "a document that owners confirm", "sending mail, which this installation cannot")
	require.NotContains(t, settings, "Switch it on", "it cannot be switched on yet")
	require.NotContains(t, settings, `href="/procedures/deactivateLifecycle"`)
	refused := w.do("/procedures/activateLifecycle", "reason", "because")
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Contains(t, refused.text, "The lifecycle cannot be switched on yet")
	require.Zero(t, w.Count("SELECT count(*) FROM audit_entries"))
}

// An agent's sessions are its tokens, with the reason of their end and their connections.
func TestSessionsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	path := "/agents/" + agent.ID.String()
	w.Exec(`INSERT INTO socket_leases (id, process, bot_id, token_id, opened_at)
		SELECT gen_random_uuid(), 1, t.bot_id, t.id, '2026-11-20 10:00Z' FROM tokens t, generate_series(1, 2) WHERE t.bot_id = $1`, agent.ID)
	page := w.get(path).text
	w.shows(page, `<span class="state well">in force</span>`, `<td data-name="Connections" class="number">2</td><td data-name="The oldest since"><time datetime="2026-11-20T10:00:00Z"`)
	require.NotContains(t, page, agent.Token)
	require.Equal(t, http.StatusOK, w.do("/procedures/reissueToken?id="+agent.ID.String(), "reason", "stolen").StatusCode)
	w.shows(w.get(path).text, `<span class="state">token reissued</span>`, `<span class="state well">in force</span>`)
	w.Exec("UPDATE tokens SET expires_at = stoa_now() - interval '1 hour' WHERE revoked_at IS NULL")
	require.Contains(t, w.get(path).text, `<span class="state">expired</span>`)
	w.Exec("UPDATE tokens SET revoked_at = stoa_now(), ended_by = 'token_revoked'")
	require.Contains(t, w.get(path).text, "No token is in force: the agent gets back in with a new one")
}

// The picture of an agent is its public avatar, or else the pattern of its id.
func TestTheFaceOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.InspectWith(nil)
	agent := w.Agent()
	file := w.File(agent, attachments.Avatar).String()
	w.Exec("UPDATE attachments SET bound_kind = 'avatar', bound_id = $2 WHERE id = $1", file, agent.ID)
	w.Exec("UPDATE bots SET avatar_id = $2 WHERE id = $1", agent.ID, file)
	face := "/faces/" + agent.ID.String() + "/" + file
	require.Contains(t, w.get("/agents/"+agent.ID.String()).text, `<img src="`+face+`"`)
	gone := w.get(face)
	require.Equal(t, http.StatusSeeOther, gone.StatusCode)
	require.Equal(t, "/faces/"+agent.ID.String()+".svg", gone.Header.Get("Location"))
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), "attachments/"+file[len(file)-2:]+"/"+file+".preview", []byte("a picture"), nil))
	shown := w.get(face)
	require.Equal(t, http.StatusOK, shown.StatusCode)
	require.Equal(t, "image/jpeg", shown.Header.Get("Content-Type"))
	require.Equal(t, "a picture", shown.text)
	w.Exec("UPDATE bots SET suspended_at = stoa_now()")
	require.Equal(t, http.StatusSeeOther, w.get(face).StatusCode, "no one sees it any more")
}

// The books add up, and an agent's statement can be saved as CSV without texts that a spreadsheet reads as formulas.
func TestBooksPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.shows(w.get("/books").text, "Wallets, escrow and fees add up to the issued credits", "0 differences")
	checked := w.do("/procedures/runMaintenance?task=RECONCILE", "reason", "look").text
	w.shows(checked, "The ledger is right: no differences.", `href="/books"`)
	for _, other := range []string{"Trashed", "Granted", "Swept", "Backup"} {
		require.NotContains(t, checked, other, "it shows only its own result")
	}
	require.Contains(t, w.get("/books?format=csv").text, "difference_minor\n")
	statement := w.get("/books/agents/" + agent.ID.String())
	require.Contains(t, statement.text, "Grant")
	accessible(t, "/books/agents", w.parse(statement.text))
	_, rest, found := strings.Cut(statement.text, `href="/ledger?transactionID=`)
	require.True(t, found)
	transaction, _, _ := strings.Cut(rest, `"`)
	w.shows(w.get("/ledger?transactionID="+transaction).text, "issuance", "available")
	csv := w.get("/books/agents/" + agent.ID.String() + "?format=csv")
	require.Equal(t, "text/csv; charset=utf-8", csv.Header.Get("Content-Type"))
	require.Equal(t, 2, strings.Count(csv.text, "\n"), csv.text)
	require.Contains(t, csv.text, "1,")
	require.Equal(t, http.StatusNotFound, w.get("/books/agents/01a20004-0000-7000-8000-000000000000").StatusCode)
}

// If the second page of a statement cannot be read, the connection breaks, so that nobody takes the first page for the whole
// statement. Here a balance is too large for its column.
func TestAStatementThatFailsIsBrokenOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Exec(`INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
		SELECT gen_random_uuid(), stoa_now(), $1::uuid, $2::uuid, n, 'available', 'reward', CASE WHEN n <= 3 THEN 9000000000000000000 ELSE 1 END
		FROM generate_series(2, 101) n
		UNION ALL SELECT gen_random_uuid(), stoa_now(), $1, NULL, NULL, 'issuance', 'reward', d
		FROM unnest(ARRAY[-9000000000000000000, -9000000000000000000, -98]) d`, uuid.New(), agent.ID)
	request := graphtest.Got(http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/books/agents/"+agent.ID.String()+"?format=csv", nil))(t)
	request.Header.Set("Cookie", w.cookie)
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.Error(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NotContains(t, string(raw), "<html")
}
