package webhooks_test

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/webhooks"
)

// caused adds an order.changed event to an agent that acted itself.
func (w *world) caused(agent *graphtest.Agent, version int) {
	payload := events.OrderPayload{OrderID: agent.ID, Status: "funded", Version: version, Action: "accept", ActorID: agent.ID}
	require.NoError(w.t, w.DB.Tx(w.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return w.Events.Add(ctx, tx, events.Event{Recipient: agent.ID, Kind: events.OrderChanged, Payload: payload})
	}))
}

// hookWithoutOwn makes a webhook that leaves out own acts, of kinds.
func (w *world) hookWithoutOwn(agent *graphtest.Agent, url string, kinds ...string) *webhooks.Card {
	made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &url, Kinds: kinds, Own: new(false)}))(w.t)
	require.False(w.t, made.Webhook.Own)
	return w.tested(made.Webhook)
}

// A webhook acknowledges only its own kinds, also if the event that it was to send is gone and an own act follows it.
func TestAWebhookAcknowledgesOnlyItsKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	endpoint := newEndpoint(t, nil)
	w.hookWithoutOwn(agent, endpoint.URL, "contact.requested")
	w.tell(agent)
	require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
	requested := w.queue(agent)
	w.caused(agent, 1)
	graphtest.OK(t)(w.Events.AcknowledgeEvents(agent.Ctx, events.AcknowledgeInput{EventIDs: requested}))
	require.Empty(t, w.delivered(endpoint))
	require.Len(t, w.queue(agent), 1)
}

// An own act needs no attempt, so failures of the endpoint do not hold it up.
func TestOwnActsAreAcknowledgedWhileTheEndpointFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	endpoint := newEndpoint(t, status(503))
	hook := w.hookWithoutOwn(agent, endpoint.URL)
	w.Exec("DELETE FROM events")
	w.tell(agent)
	others := w.queue(agent)
	w.caused(agent, 1)
	w.caused(agent, 2)
	w.DeliverWebhooks()
	require.Equal(t, others, w.queue(agent))
	require.Len(t, endpoint.take(), 1)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM pending_deliveries"))

	// A change of own applies to later events.
	graphtest.OK(t)(w.Webhooks.UpdateWebhook(agent.Ctx, webhooks.UpdateInput{WebhookID: hook.ID.String(), Own: new(true)}))
	endpoint.answers(nil)
	w.caused(agent, 3)
	require.Len(t, w.delivered(endpoint), 2)
	require.Empty(t, w.queue(agent))
}

// A wait is never shorter than the pause that the endpoint asked for; there is none after the tenth attempt.
func TestWaits(t *testing.T) {
	t.Parallel()
	for i, wait := range waits {
		got, again := webhooks.NextWait(i+1, time.Second)
		require.True(t, again)
		require.Equal(t, wait, got)
	}
	longer, again := webhooks.NextWait(2, time.Hour)
	require.True(t, again)
	require.Equal(t, time.Hour, longer)
	_, again = webhooks.NextWait(10, 0)
	require.False(t, again)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "86400": 24 * time.Hour, "86401": 24 * time.Hour,
		"99999999999999999999999": 24 * time.Hour, "-5": 0, "1.5": 0, "soon": 0, "0x10": 0,
		now.Add(time.Hour).Format(http.TimeFormat):       time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat):      0,
		now.Add(100 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
	} {
		require.Equal(t, want, webhooks.ParseRetryAfter(value, now), "%q", value)
	}
}

// An address that is accepted is one that net/http understands, over https unless it is the loopback.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"https://agent.example/x?y", "http://127.0.0.1/", "https://a@b/", "http://[::1]:8/", "https://\\evil/", "https:/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, err := webhooks.CheckURL(address, true)
		if err != nil {
			return
		}
		parsed := graphtest.Got(url.Parse(address))(t)
		require.Equal(t, host, parsed.Host)
		require.NotEmpty(t, parsed.Hostname())
		require.Nil(t, parsed.User)
		graphtest.OK(t)(http.NewRequest(http.MethodPost, address, http.NoBody))
		if _, err := webhooks.CheckURL(address, false); err != nil {
			require.Equal(t, "http", parsed.Scheme)
		}
	})
}

// Even if a webhook changes while events arrive and several processes deliver, every event reaches the endpoint, one at a time.
func TestNoEventIsLostInBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var (
		under, crowded, calls atomic.Int64
		mu                    sync.Mutex
		received              = map[string]bool{}
	)
	e := newEndpoint(t, func(rw http.ResponseWriter, r *http.Request) {
		if under.Add(1) > 1 {
			crowded.Add(1)
		}
		defer under.Add(-1)
		if calls.Add(1)%3 == 0 {
			rw.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		received[r.Header.Get("webhook-id")] = true
	})
	agent := w.Agent()
	hook := w.hook(agent, e.URL)
	ended := make(chan struct{})
	var workers, others sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					_ = w.Webhooks.Queue(t.Context(), webhooks.Scope{Recent: true})
					_ = w.Webhooks.Deliver(t.Context(), hook.ID)
				}
			}
		})
	}
	const events = 40
	var causes [events]*graphtest.Agent
	for i := range causes {
		causes[i] = w.Agent()
	}
	others.Go(func() {
		for _, by := range causes {
			w.Asked(by, agent)
		}
	})
	others.Go(func() {
		for n := range 30 {
			in := webhooks.UpdateInput{State: graphtest.Ptr([]string{"paused", "active"}[n%2])}
			if n%5 == 0 {
				in = webhooks.UpdateInput{Kinds: []string{[]string{"contact.requested", "order.changed"}[n/5%2]}}
			}
			if _, err := w.change(agent, hook.ID, in); err != nil {
				t.Error(err)
			}
		}
	})
	others.Wait()
	close(ended)
	workers.Wait()
	_, err := w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active"), Kinds: []string{"contact.requested"}})
	require.NoError(t, err)
	for _, wait := range waits[:3] {
		w.DeliverWebhooks()
		w.Shift(wait)
	}
	w.DeliverWebhooks()
	require.Empty(t, w.queue(agent))
	require.Len(t, received, events)
	require.Zero(t, crowded.Load())
	require.Zero(t, w.Count("SELECT count(*) FROM pending_deliveries"))
}
