package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// order makes an order in a state; a closed order was accepted just now.
func (w *world) order(customer, contractor *graphtest.Agent, state string) {
	id := w.Ordered(customer, contractor, state)
	w.Exec(`UPDATE orders SET deadline = deadline + interval '1 day', amount_minor = 10000, fee_minor = 1000, total_minor = 11000
		WHERE id = $1`, id)
	w.Exec(`INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version) VALUES ($1, stoa_now(), $2, 'complete', $3, $4, 1)`,
		uuid.Must(uuid.NewV7()), id, customer.ID, state)
}

// The books show who earned, paid and holds how much within a period, and link to those orders.
func TestEarners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor := w.Agent(), w.Agent()
	w.order(customer, contractor, "closed")
	w.order(customer, contractor, "closed")
	w.order(customer, contractor, "funded")
	text := content(w.page("/books?days=1"))
	w.shows(text, "Who earns", "200.00", "220.00", "110.00")
	page := w.get("/books").text
	w.shows(page, `max="20000" value="20000" aria-label="200.00 credits"`, `<a href="/orders?attention=holding">`,
		"/orders?attention=holding&amp;customerID="+customer.ID.String(), "/procedures/runMaintenance?task=RECONCILE", "In 2 wallets")
	require.Contains(t, w.get("/orders?attention=holding").text, "Orders: 1 found")
	require.NotContains(t, page, `state ill">suspended`)
	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", contractor.ID)
	require.Contains(t, w.get("/books").text, `</a> <span class="state ill">suspended</span>`)
	require.Contains(t, w.get("/agents?format=csv&columns=state").text, w.handle(contractor)+",suspended")
	w.Exec("UPDATE orders SET outcome = 'refunded' WHERE state = 'closed'")
	require.NotContains(t, content(w.page("/books?days=1")), "200.00")
	for _, wrong := range []string{"0", "367", "x"} {
		require.Equal(t, http.StatusBadRequest, w.get("/books?days="+wrong).StatusCode, wrong)
	}
}

// The form that removes a thing shows it; of a file that not everyone sees, it links to a review.
func TestAThingIsSeenBeforeItIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.Exec("UPDATE ratings SET stars = 2, text = 'It was late.'")
	w.shows(w.get("/procedures/removeRating?id="+w.ids["Rating"].String()).text, "To be removed", "2 of 5 by @", "It was late.")
	w.Exec("UPDATE services SET description = 'I sing.'")
	w.shows(w.get("/procedures/removeService?id="+w.ids["Service"].String()).text, "To be removed", "I sing.")
	agent := w.Agent()
	file, order := w.File(agent, attachments.Order), uuid.Must(uuid.NewV7())
	path := "/procedures/removeAttachment?id=" + file.String()
	require.Contains(t, w.get(path).text, "Not everyone sees this file")
	w.Exec("UPDATE attachments SET bound_kind = 'order_input', bound_id = $2 WHERE id = $1", file, order)
	require.Contains(t, w.get(path).text, `href="/procedures/reviewOrder?id=`+order.String())

	w.InspectWith(nil)
	picture, post := w.File(agent, attachments.Portfolio).String(), w.Posted(agent, "A picture", "public").ID.String()
	w.Exec("UPDATE attachments SET bound_kind = 'post', bound_id = $2 WHERE id = $1", picture, post)
	require.NoError(t, w.Attachments.Store.WriteAll(t.Context(), "attachments/"+picture[len(picture)-2:]+"/"+picture+".preview", []byte("a picture"), nil))
	seen := `<img class="seen" src="/faces/` + picture + "/" + picture + `"`
	require.Contains(t, w.get("/procedures/removeAttachment?id="+picture).text, seen)
	require.Contains(t, w.do("/procedures/reviewPost?id="+post, "reason", "a complaint").text, seen)
}

// Now shows the last hour, of one kind or of all, open orders and things that need attention. It states the number of shown rows,
// and links to the others.
func TestNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	w.shows(w.get("/now").text, "Orders that hold credits", ">The last hour<", "asks for", "joined", "Needs attention", "/orders/"+w.ids["Order"].String(), "Runbook")
	only := w.get("/now?kind=joined").text
	require.Contains(t, only, "joined")
	require.NotContains(t, only, "asks for")
	one, other := w.Agent(), w.Agent()
	for range 119 {
		w.order(one, other, "funded")
	}
	w.Posted(one, "A poem", "public")
	w.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
		SELECT overlay(p.id::text PLACING lpad(n::text, 12, '0') FROM 25)::uuid, stoa_now(), stoa_now(), author_id, kind, visibility, n::text, 'x'
		FROM posts p, generate_series(1, 120) n`)
	page := w.get("/now").text
	w.shows(page, "110.00</bdi></a>, 119 times", "joined 4", "120 events of the last hour", "More happened in this hour.", "Only 50 are shown.", `href="/orders?attention=holding&amp;sort=UPDATED_AT"`)
	require.Contains(t, w.get("/agents/"+one.ID.String()).text, "Only 50 are shown.")
}

// Text and JSON of a tool are on a page with the console's navigation.
func TestToolsHaveTheNavigation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.get("/tools/figures")
	require.Equal(t, http.StatusOK, page.StatusCode)
	w.shows(page.text, `aria-label="Console"`, "<h1 dir=\"auto\">Figures</h1>", "&#34;three&#34;: 3", `<a href="/figures">Raw text</a>`, `href="/tools/figures" aria-current="page"`)
	require.Equal(t, http.StatusNotFound, w.get("/tools/jobs").StatusCode)
}

// Nouns agree with their numbers, and pages use everyday words. Lists show handles instead of ids, the title of a page has the kind
// of its record, and a link back has the title of its page.
func TestWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	agent, order := w.ids["Bot"].String(), w.ids["Order"].String()
	w.Exec(`INSERT INTO audit_entries (id, created_at, operator, procedure, target, reason, details)
		VALUES (gen_random_uuid(), stoa_now(), 'Ada', 'suspendBot', $1::text, 'why', '{}')`, agent)
	for _, path := range []string{"/ledger", "/messages", "/events", "/audit"} {
		require.Contains(t, w.get(path).text, `<a href="/agents/`+agent+`"><bdi>@`, path)
	}
	for path, text := range map[string]string{
		"/orders/" + order: "Order …" + order[28:] + ": @", "/orders": `data-name="Order"><a href="/orders/` + order + `"><bdi>…`, "/deliveries": `data-name="Delivery"`,
		"/procedures/reviewOrder?id=" + order: ">Back to <bdi>Order …", "/procedures/updateSettings": ">Back to Settings</a>",
		"/procedures/createInvitation": ">Back to Invitations</a>",
	} {
		require.Contains(t, w.get(path).text, text, path)
	}
	page := w.get("/now").text
	require.Contains(t, page, "order is disputed")
	w.shows(w.get("/procedures/answerFeedback?id="+w.ids["Feedback"].String()).text, "To be answered", "alert(1)")
	w.shows(content(w.page("/procedures/updateSettings")), "Closed: No one.")
	w.Exec("UPDATE feedbacks SET kind = 'report', subject_type = 'bot', subject_id = $1, subject_bot_id = $1", w.ids["Bot"])
	reports := w.get("/reports").text
	require.Contains(t, reports, `<span class="state">agent</span>`)
	require.NotContains(t, reports, `<span class="state">bot</span>`)
	w.Exec("UPDATE feedbacks SET text = ' '")
	w.shows(w.get("/feedback/"+w.ids["Feedback"].String()).text, `<p class="up"><a href="/reports">Reports</a></p>`, "Reporter", "white space only")
	require.NotContains(t, strings.ReplaceAll(w.get("/maintenance").text, "\n", " "), "1 hours")
}
