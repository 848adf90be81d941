package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
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

// minConfirmed is how many messages and order operations each pair has confirmed before the crash.
const minConfirmed = 15

// pair is two friends. One sends messages to the other and orders from it until the server dies.
type pair struct {
	from, to *testAgent
	// sent are all envelopes that were tried, in order. The first confirmedMessages of them were answered.
	sent              []client.Envelope
	confirmedMessages atomic.Int64
	// operations are those on orders, in the same way.
	operations          []operation
	confirmedOperations atomic.Int64
}

// operation is one request that changes an order, and its answer.
type operation struct {
	by   *testAgent
	path string
	body map[string]any
	want int
	// order is zero until the answer came.
	order orderCard
}

type orderCard struct {
	ID, State string
	Version   int64
}

func (o *operation) run(ctx context.Context) (err error) {
	o.order, err = client.One[orderCard](ctx, o.by.Client, http.MethodPost, o.path, "order", o.body)
	return err
}

// sendMessages sends messages until one is not answered.
func (p *pair) sendMessages(ctx context.Context) {
	for {
		envelope := p.from.seal(p.to, fmt.Sprintf("message %d", len(p.sent)))
		p.sent = append(p.sent, envelope)
		if err := p.from.post(ctx, envelope); err != nil {
			return
		}
		p.confirmedMessages.Add(1)
	}
}

// runOrders takes orders from offer to payment until an operation is not answered.
func (p *pair) runOrders(ctx context.Context) {
	for {
		p.operations = append(p.operations, p.nextOperation())
		if err := p.operations[len(p.operations)-1].run(ctx); err != nil {
			return
		}
		p.confirmedOperations.Add(1)
	}
}

// nextOperation continues the last order, or makes a new one.
func (p *pair) nextOperation() operation {
	id := uuid.NewString()
	if len(p.operations) > 0 {
		last := p.operations[len(p.operations)-1].order
		steps := map[string]struct {
			by     *testAgent
			action string
		}{
			"offered": {p.to, "accept"}, "funded": {p.to, "start"}, "in_progress": {p.to, "deliver"}, "delivered": {p.from, "complete"},
		}
		if step, open := steps[last.State]; open {
			body := map[string]any{"operation_id": id, "expected_version": last.Version}
			if step.action == "deliver" {
				body["result_text"] = "done"
			}
			return operation{by: step.by, path: "/orders/" + last.ID + "/" + step.action, body: body, want: http.StatusOK}
		}
	}
	return operation{by: p.from, path: "/orders", want: http.StatusCreated, body: map[string]any{
		"operation_id": id, "contractor_id": p.to.ID, "amount_minor": 10, "confirmed_total_minor": 11, "title": "t",
		"description": "d", "deadline": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}}
}

// Confirmed operations are there after a crash, exactly once; unconfirmed ones can be repeated.
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
		busy.Go(func() { p.sendMessages(t.Context()) })
		busy.Go(func() { p.runOrders(t.Context()) })
	}
	eventually(t, func() bool {
		return !slices.ContainsFunc(pairs, func(p *pair) bool {
			return p.confirmedMessages.Load() < minConfirmed || p.confirmedOperations.Load() < minConfirmed
		})
	}, "too few requests were confirmed")
	killCluster(t, first.data)
	first.signal(syscall.SIGKILL)
	busy.Wait()

	second := startServer(t, append([]string{"STOA_DATA_DIR=" + first.data}, noLimits...)...)
	for _, p := range pairs {
		p.from, p.to = p.from.on(second), p.to.on(second)
		p.checkMessages(t)
		p.checkEvents(t)
		p.checkOrders(t)
	}
	require.Contains(t, second.queryOperator(`mutation { runMaintenance(task: RECONCILE, reason: "after the crash") { discrepancies { check } } }`),
		`"discrepancies":[]`)
}

// checkMessages repeats the envelope that was not confirmed and reads the whole history.
func (p *pair) checkMessages(t *testing.T) {
	t.Helper()
	repeat := func() int { return send(t, p.from.Client, http.MethodPost, "/messages", p.sent[len(p.sent)-1]).Status }
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, repeat())
	require.Equal(t, http.StatusOK, repeat())
	read := 0
	for message, err := range p.to.Messages(t.Context(), p.from.ID) {
		require.NoError(t, err)
		read++
		require.Equal(t, p.sent[len(p.sent)-read], message.Envelope)
	}
	require.Len(t, p.sent, read)
}

// checkEvents receives the event of every message, once and in order: none was acknowledged before.
func (p *pair) checkEvents(t *testing.T) {
	t.Helper()
	require.NoError(t, p.to.connect(t.Context()))
	defer p.to.Events.Close()
	for next := 0; next < len(p.sent); {
		event := p.to.Events.next(t)
		if event.Kind == "message.created" {
			said := parsed[struct{ Message client.Message }](t, event.Payload)
			require.Equal(t, p.sent[next].ClientMessageID, said.Message.ClientMessageID)
			next++
		}
	}
}

// checkOrders repeats every operation: the confirmed ones get the same answer.
func (p *pair) checkOrders(t *testing.T) {
	t.Helper()
	versions := make(map[string]int64)
	for i := range p.operations {
		o := &p.operations[i]
		by := p.from
		if o.by.ID == p.to.ID {
			by = p.to
		}
		answer := send(t, by.Client, http.MethodPost, o.path, o.body)
		again := parsed[struct{ Order orderCard }](t, answer.Body).Order
		if int64(i) < p.confirmedOperations.Load() {
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, o.order, again)
		} else {
			require.Contains(t, []int{http.StatusOK, o.want}, answer.Status, "%s", answer.Body)
		}
		versions[again.ID] = again.Version
	}
	for id, version := range versions {
		require.Equal(t, version, graphtest.Got(p.from.Order(t.Context(), id))(t).Version, "no operation took effect twice")
	}
}

// webhookCall is a request that an endpoint received.
type webhookCall struct {
	id, timestamp, signature string
	body                     []byte
}

// webhookEndpoint is an endpoint that keeps the events that it is sent, and answers once it may. It answers tests at once.
type webhookEndpoint struct {
	*httptest.Server
	mu    sync.Mutex
	calls []webhookCall
	// hang keeps calls waiting until it is closed; nil does not.
	hang chan struct{}
}

func newWebhookEndpoint(t *testing.T, hang chan struct{}) *webhookEndpoint {
	t.Helper()
	e := &webhookEndpoint{hang: hang}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"type":"webhook.test"`) {
			return
		}
		e.mu.Lock()
		e.calls = append(e.calls, webhookCall{r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body})
		e.mu.Unlock()
		if e.hang != nil {
			select {
			case <-e.hang:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *webhookEndpoint) received() []webhookCall {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]webhookCall(nil), e.calls...)
}

// polled are the ids of an agent's unacknowledged events.
func polled(t *testing.T, by *testAgent) (ids []string) {
	t.Helper()
	events := graphtest.Got(client.One[[]client.Event](t.Context(), by.Client, http.MethodGet, "/events", "events", nil))(t)
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// A server that is killed in the middle of a delivery makes it again under the same id, and the published key verifies both.
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
	require.NoError(t, alice.Do(t.Context(), http.MethodPost, "/webhooks", row{"url": endpoint.URL, "signing": "v1a"}, nil))
	graphtest.OK(t)(bob.Befriend(t.Context(), alice.ID))
	require.Eventually(t, func() bool { return len(endpoint.received()) == 1 }, slack.TestWait, time.Millisecond)
	require.Len(t, polled(t, alice), 1, "it is not acknowledged")
	first.kill(w)
	close(hang)
	second := startServer(t, settings...)
	alice = alice.on(second)
	eventually(t, func() bool { return len(polled(t, alice)) == 0 }, "it is not delivered again")
	calls := endpoint.received()
	require.Len(t, calls, 2)
	require.Equal(t, calls[0].id, calls[1].id)
	keys := parsed[struct{ Keys []map[string]any }](t, second.get("/.well-known/stoa-keys.json").raw).Keys
	public := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(keys[0]["public_key"].(string), "whpk_")))(t)
	for _, call := range calls {
		signature := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(call.signature, "v1a,")))(t)
		require.True(t, ed25519.Verify(public, []byte(call.id+"."+call.timestamp+"."+string(call.body)), signature))
	}
}

// A server whose operator has set nothing has no webhooks, and one that allows no loopback does not reach it.
func TestWebhooksAreOffUnlessSwitchedOn(t *testing.T) {
	t.Parallel()
	create := func(by *testAgent, url string) (map[string]any, error) {
		return client.One[map[string]any](t.Context(), by.Client, http.MethodPost, "/webhooks", "webhook", row{"url": url})
	}
	_, err := create(sharedServer(t).join("Agent", "agent"), "https://agent.example/")
	requireRefused(t, err, http.StatusForbidden, "forbidden")

	endpoint := newWebhookEndpoint(t, nil)
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
