package webhooks_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/webhooks"
)

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
