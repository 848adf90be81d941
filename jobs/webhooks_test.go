package jobs_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/graph/webhooks"
	"stoa/jobs"
)

// withWebhooks switches webhooks on, with jobs that are inserted.
func (h *world) withWebhooks(timeout time.Duration) {
	h.t.Helper()
	insert := graphtest.Got(jobs.NewEnqueue(h.DB, h.clock, slog.New(slog.DiscardHandler)))(h.t)
	h.Webhooks.InsertJob = insert
	h.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{AllowLoopback: true, Timeout: timeout})
}

func (h *world) hook(agent *graphtest.Agent, address string) {
	h.t.Helper()
	graphtest.OK(h.t)(h.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &address}))
}

// The jobs deliver events without a wake-up, and repeat failed deliveries 5 s later.
func TestWebhooksAreDelivered(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	h.withWebhooks(0)
	var asked atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(endpoint.Close)
	agent := h.Agent()
	h.hook(agent, endpoint.URL)
	h.start("deliver")
	h.start("deliver")
	h.Asked(h.Agent(), agent)
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM webhook_deliveries WHERE status = 200") == 2 }, slack.TestWait, 10*time.Millisecond)
	require.EqualValues(t, 3, asked.Load(), "the test of the address twice, then the event")
	require.EqualValues(t, 3, h.Count("SELECT count(*) FROM webhook_deliveries"))
	require.Zero(t, h.Count("SELECT count(*) FROM events"))
	const gap = "SELECT extract(epoch FROM max(created_at) - min(created_at))::bigint FROM webhook_deliveries"
	require.GreaterOrEqual(t, h.Count(gap), int64(5))
}

// Endpoints that hang, more of them than there are workers for any queue, hold up no delivery to one that answers.
func TestHangingEndpointsDoNotStarveOthers(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	h.withWebhooks(0)
	hung := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(hung) })
	var answered atomic.Int64
	prompt := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered.Add(1) }))
	t.Cleanup(prompt.Close)

	h.start("deliver")
	good := h.Agent()
	h.hook(good, prompt.URL)
	h.Asked(h.Agent(), good)
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM webhooks WHERE prompt") == 1 }, slack.TestWait, 10*time.Millisecond)

	const evil = 40
	for range evil {
		agent := h.Agent()
		h.hook(agent, hanging.URL)
		h.Asked(good, agent)
	}
	const busy = "SELECT count(*) FROM webhooks WHERE NOT prompt AND claimed_until > stoa_now()"
	require.Eventually(t, func() bool { return h.Count(busy) >= 16 }, slack.TestWait, 10*time.Millisecond)
	before := answered.Load()
	for n := range 10 {
		h.Asked(h.Agent(), good)
		require.Eventually(t, func() bool { return answered.Load() > before+int64(n) }, slack.TestWait, 10*time.Millisecond)
	}
	require.Positive(t, h.Count(busy), "and the others hang still")
}

// hasLate reports whether an endpoint of an agent was not prompt: its deliveries may then run beside another one. A busy machine
// can make any endpoint late.
func (h *world) hasLate(agent string) bool {
	var late bool
	err := h.DB.SQL.Pool.QueryRow("SELECT EXISTS (SELECT FROM webhooks WHERE bot_id = $1 AND NOT prompt)", agent).Scan(&late)
	return err == nil && late
}

// Ten agents with three endpoints each that are slow, but in time to be among the prompt ones, and a queue of events for each: a
// delivery to an endpoint that is quick waits for none of them, and each agent has at most one delivery under way.
func TestSlowEndpointsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	h.withWebhooks(0)
	const agents, hooksEach = 10, 3
	slowness := slack.Of(1200 * time.Millisecond)
	var (
		mu      sync.Mutex
		under   = map[string]int{}
		crowded int
	)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		agent := path.Base(r.URL.Path)
		mu.Lock()
		// No other delivery ends while the database is asked.
		if under[agent]++; under[agent] > 1 && !h.hasLate(agent) {
			crowded++
		}
		mu.Unlock()
		select {
		case <-time.After(slowness):
		case <-r.Context().Done():
		}
		mu.Lock()
		under[agent]--
		mu.Unlock()
	}))
	t.Cleanup(slow.Close)
	var answered atomic.Int64
	quick := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered.Add(1) }))
	t.Cleanup(quick.Close)

	good := h.Agent()
	h.hook(good, quick.URL)
	for range agents {
		agent := h.Agent()
		for range hooksEach {
			h.hook(agent, slow.URL+"/"+agent.ID.String())
		}
		h.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload)
			SELECT gen_random_uuid(), stoa_now(), $1, 'order.changed', '{}' FROM generate_series(1, 100)`, agent.ID)
	}
	// The jobs that were to try the addresses are for endpoints without an answer yet. An agent may have several of them at once.
	h.Exec("DELETE FROM river_job")
	h.Exec("DELETE FROM pending_deliveries")
	h.Exec("UPDATE webhooks SET confirmed_at = stoa_now(), prompt = true, due_at = NULL, queued_until = NULL")
	h.start("deliver")
	busy := func() bool {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, of := range under {
			n += of
		}
		return n == agents
	}
	require.Eventually(t, busy, slack.TestWait, time.Millisecond)
	var took []time.Duration
	for range 12 {
		by, before := h.Agent(), answered.Load()
		began := time.Now()
		h.Asked(by, good)
		require.NoError(t, h.Webhooks.Queue(t.Context(), webhooks.Scope{Recent: true})) // as the tick does within a second
		require.Eventually(t, func() bool { return answered.Load() > before }, slack.TestWait, time.Millisecond)
		took = append(took, time.Since(began))
		require.Eventually(t, busy, slack.TestWait, time.Millisecond, "the others are still at it")
	}
	slices.Sort(took)
	t.Logf("the quick deliveries took %v", took)
	// A delivery that waited for a slow endpoint would take longer; a busy machine delays a few, not half of all.
	require.Less(t, took[len(took)/2], slowness)
	mu.Lock()
	defer mu.Unlock()
	require.Zero(t, crowded, "deliveries to an agent that has another under way and no endpoint that was late")
}
