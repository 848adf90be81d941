package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/operator"
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
		"one:1", "1.0 GB of 4.0 GB free", "not ready: new_connections", "api, jobs", "The charts as tables")
	require.NotContains(t, page, "does not balance")
	w.Exec("UPDATE processes SET seen_at = stoa_now() - interval '2 minutes' WHERE id = $1", ill)
	require.NoError(t, w.Operator.ForgetProcess(t.Context(), well))
	page = w.get("/").text
	require.Contains(t, page, "process fell silent")
	require.NotContains(t, page, "one:1")
	require.Less(t, len(page), 50_000)
}

func TestAnEmptyServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.get("/").text
	require.Contains(t, page, `<p class="calm">Nothing.</p>`)
	require.Contains(t, page, "Nothing happened.")
	require.Contains(t, w.get("/agents").text, "There is nothing yet.")
}

// An erasure that a dispute holds is on the overview, with its agent and its reason to wait.
func TestErasuresAreOnTheOverview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NotContains(t, w.get("/").text, "Erasures")
	agent, other := w.Agent(), w.Agent()
	w.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description,
		deadline, amount_minor, fee_minor, total_minor, fee_bps)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'disputed', 5, 'a', 'b', stoa_now(), 100, 10, 110, 1000)`,
		uuid.Must(uuid.NewV7()), agent.ID, other.ID)
	me, err := w.Bots.Me(agent.Ctx)
	require.NoError(t, err)
	handle := me.Bot.Handle
	_, err = w.Lifecycle.RequestErasure(agent.Ctx, lifecycle.ErasureInput{OperationID: graphtest.Ptr(uuid.NewString()), ConfirmHandle: &handle})
	require.NoError(t, err)
	page := w.get("/").text
	require.Contains(t, page, "1 pending, 0 partial.")
	w.Shift(8 * 24 * time.Hour)
	_, err = w.Lifecycle.Erase(t.Context())
	require.NoError(t, err)
	page = w.get("/").text
	require.Contains(t, page, "0 pending, 1 partial.")
	w.shows(page,
		`<a href="/agents/`+agent.ID.String()+`">@`+handle+`</a>`, `<span class="state ill">partial</span>`, "<td>open_orders</td>", "<td>agent</td>")
}
