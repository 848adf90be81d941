package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

// minConfirmed is the number of messages, and of order operations, that each pair has confirmed before the crash.
const minConfirmed = 15

// pair is two friends. One sends messages to the other and orders from it until the server dies.
type pair struct {
	from, to         *testAgent
	messages, orders script
}

// script is a sequence of requests, each sent after the answer to the previous one.
type script struct {
	tried []operation
	// answered counts the answered requests: all but the last, once the server has died.
	answered atomic.Int64
}

// operation is one request, and the order in its answer, if there is one.
type operation struct {
	by    *testAgent
	path  string
	body  any
	order orderCard
}

type orderCard struct {
	ID, State string
	Version   int64
}

// run makes requests until one is not answered. next gets the order of the previous answer.
func (s *script) run(ctx context.Context, next func(last orderCard) operation) {
	for last := (orderCard{}); ; s.answered.Add(1) {
		o := next(last)
		var made struct{ Order orderCard }
		err := o.by.Do(ctx, http.MethodPost, o.path, o.body, &made)
		last, o.order = made.Order, made.Order
		if s.tried = append(s.tried, o); err != nil {
			return
		}
	}
}

// repeat makes every request again, at another server: answered requests get the same answers. It returns the orders' versions.
func (s *script) repeat(t *testing.T, at *testServer) map[string]int64 {
	t.Helper()
	versions := make(map[string]int64)
	for i, o := range s.tried {
		answer := send(t, o.by.on(at).Client, http.MethodPost, o.path, o.body)
		order := parsed[struct{ Order orderCard }](t, answer.Body).Order
		if int64(i) < s.answered.Load() {
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, o.order, order)
		} else {
			require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answer.Status, "%s", answer.Body)
		}
		versions[order.ID] = order.Version
	}
	return versions
}

func (p *pair) nextMessage(orderCard) operation {
	text := fmt.Sprintf("message %d", len(p.messages.tried))
	sealed, _ := p.from.keys.Seal(p.from.ID, p.to.ID, p.to.keys.Public(), text, uuid.NewString()) // such a text can be sealed
	return operation{by: p.from, path: "/messages", body: sealed}
}

// nextAction takes an order from offer to payment, and then offers another one.
func (p *pair) nextAction(last orderCard) operation {
	body := map[string]any{"operation_id": uuid.NewString()}
	steps := map[string]struct {
		by     *testAgent
		action string
	}{
		"offered": {p.to, "accept"}, "funded": {p.to, "start"}, "in_progress": {p.to, "deliver"}, "delivered": {p.from, "complete"},
	}
	if step, open := steps[last.State]; open {
		body["expected_version"] = last.Version
		if step.action == "deliver" {
			body["result_text"] = "done"
		}
		return operation{by: step.by, path: "/orders/" + last.ID + "/" + step.action, body: body}
	}
	maps.Copy(body, map[string]any{
		"contractor_id": p.to.ID, "amount_minor": 10, "confirmed_total_minor": 11, "title": "t", "description": "d",
		"deadline": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	})
	return operation{by: p.from, path: "/orders", body: body}
}

// After a crash, confirmed operations have taken effect exactly once, and unconfirmed operations can be repeated.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	first := startServer(t, append(noLimits, "STOA_DATA_DIR="+filepath.Join(t.TempDir(), "data"))...)
	pairs := make([]*pair, 4)
	for i := range pairs {
		pairs[i] = &pair{from: first.join("Agent", "agent"), to: first.join("Agent", "agent")}
		require.NoError(t, pairs[i].from.meet(t.Context(), pairs[i].to))
	}
	var busy sync.WaitGroup
	for _, p := range pairs {
		busy.Go(func() { p.messages.run(t.Context(), p.nextMessage) })
		busy.Go(func() { p.orders.run(t.Context(), p.nextAction) })
	}
	eventually(t, func() bool {
		return !slices.ContainsFunc(pairs, func(p *pair) bool {
			return min(p.messages.answered.Load(), p.orders.answered.Load()) < minConfirmed
		})
	}, "too few requests were confirmed")
	killCluster(t, first.data)
	first.signal(syscall.SIGKILL)
	busy.Wait()

	second := startServer(t, append([]string{"STOA_DATA_DIR=" + first.data}, noLimits...)...)
	for _, p := range pairs {
		p.messages.repeat(t, second)
		versions := p.orders.repeat(t, second)
		p.from, p.to = p.from.on(second), p.to.on(second)
		p.checkMessages(t)
		for id, version := range versions {
			require.Equal(t, version, graphtest.Got(p.from.Order(t.Context(), id))(t).Version, "no operation took effect twice")
		}
	}
	require.Contains(t, second.queryOperator(`mutation { runMaintenance(task: RECONCILE, reason: "after the crash") { discrepancies { check } } }`),
		`"discrepancies":[]`)
}

// checkMessages requires every message once and in order: in the history, and as an event that was not acknowledged before.
func (p *pair) checkMessages(t *testing.T) {
	t.Helper()
	var sent, read []client.Envelope
	for _, o := range p.messages.tried {
		sent = append(sent, o.body.(client.Envelope))
	}
	for message, err := range p.to.Messages(t.Context(), p.from.ID) {
		require.NoError(t, err)
		read = append(read, message.Envelope)
	}
	slices.Reverse(read)
	require.Equal(t, sent, read)

	require.NoError(t, p.to.connect(t.Context()))
	defer p.to.Events.Close()
	for next := 0; next < len(sent); {
		if event := p.to.Events.next(t); event.Kind == "message.created" {
			said := parsed[struct{ Message client.Message }](t, event.Payload)
			require.Equal(t, sent[next].ClientMessageID, said.Message.ClientMessageID)
			next++
		}
	}
}

// webhookEndpoint keeps the ids of the events that it receives, and answers once hang is closed; it answers tests at once.
type webhookEndpoint struct {
	*httptest.Server
	mu  sync.Mutex
	ids []string
}

func newWebhookEndpoint(t *testing.T, hang <-chan struct{}) *webhookEndpoint {
	t.Helper()
	e := new(webhookEndpoint)
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"type":"webhook.test"`) {
			return
		}
		e.mu.Lock()
		e.ids = append(e.ids, r.Header.Get("webhook-id"))
		e.mu.Unlock()
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *webhookEndpoint) received() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.ids)
}

// polled counts an agent's unacknowledged events.
func polled(t *testing.T, by *testAgent) int {
	t.Helper()
	return len(graphtest.Got(client.One[[]client.Event](t.Context(), by.Client, http.MethodGet, "/events", "events", nil))(t))
}

// A server that is killed in the middle of a delivery makes it again under the same id.
func TestKilledServerDeliversAgain(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	endpoint := newWebhookEndpoint(t, hang)
	w := graphtest.New(t)
	settings := append([]string{
		"STOA_DATABASE_URL=" + w.URL, "STOA_WEBHOOKS=on", "STOA_WEBHOOKS_ALLOW_LOOPBACK=true", "STOA_DATA_DIR=" + t.TempDir(),
	}, noLimits...)
	first := startServer(t, settings...)
	alice, bob := first.join("Agent", "agent"), first.join("Agent", "agent")
	require.NoError(t, alice.Do(t.Context(), http.MethodPost, "/webhooks", row{"url": endpoint.URL}, nil))
	graphtest.OK(t)(bob.Befriend(t.Context(), alice.ID))
	require.Eventually(t, func() bool { return len(endpoint.received()) == 1 }, slack.TestWait, time.Millisecond)
	require.Equal(t, 1, polled(t, alice), "it is not acknowledged")
	first.kill(w)
	close(hang)
	second := startServer(t, settings...)
	alice = alice.on(second)
	eventually(t, func() bool { return polled(t, alice) == 0 }, "it is not delivered again")
	ids := endpoint.received()
	require.Len(t, ids, 2)
	require.Equal(t, ids[0], ids[1])
}

// A server without settings has no webhooks, and a server without the setting for loopback addresses does not reach them.
func TestWebhooksAreOffUnlessSwitchedOn(t *testing.T) {
	t.Parallel()
	create := func(by *testAgent, url string) (map[string]any, error) {
		return client.One[map[string]any](t.Context(), by.Client, http.MethodPost, "/webhooks", "webhook", row{"url": url})
	}
	_, err := create(sharedServer(t).join("Agent", "agent"), "https://agent.example/")
	requireRefused(t, err, http.StatusForbidden, "forbidden")

	endpoint := newWebhookEndpoint(t, make(chan struct{}))
	w := graphtest.New(t)
	alice := startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_WEBHOOKS=on").join("Agent", "agent")
	_, err = create(alice, endpoint.URL)
	requireRefused(t, err, http.StatusBadRequest, "invalid_input")
	made := graphtest.Got(create(alice, strings.Replace(endpoint.URL, "http://", "https://", 1)))(t)
	require.NoError(t, alice.Do(t.Context(), http.MethodPost, "/webhooks/"+made["id"].(string)+"/test", nil, nil))
	const refused = "SELECT count(*) FROM webhook_deliveries WHERE error = 'forbidden_address'"
	eventually(t, func() bool { return w.Count(refused) > 0 }, "no delivery is refused")
	require.Empty(t, endpoint.received())
}
