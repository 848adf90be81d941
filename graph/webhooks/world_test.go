package webhooks_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
	"stoa/graph/platform/slack"
	"stoa/graph/webhooks"
)

// world is a server with webhooks to the loopback.
type world struct {
	*graphtest.World
	t *testing.T
}

// impatient bounds attempts in tests of hanging endpoints.
var impatient = slack.Of(time.Second)

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, webhooks.SenderConfig{AllowLoopback: true})
}

func newWorldWith(t *testing.T, config webhooks.SenderConfig) *world {
	t.Helper()
	return &world{graphtest.New(t, graphtest.WithWebhooks(config)), t}
}

// request is a request that an endpoint received.
type request struct {
	header http.Header
	body   []byte
}

func (r request) id() string { return r.header.Get("webhook-id") }

// content is the parsed body.
func (r request) content(t *testing.T) (kind string, data map[string]any) {
	t.Helper()
	var body struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		BotID     uuid.UUID      `json:"bot_id"`
		WebhookID uuid.UUID      `json:"webhook_id"`
		Data      map[string]any `json:"data"`
	}
	require.NoError(t, json.Unmarshal(r.body, &body))
	require.False(t, body.Timestamp.IsZero())
	return body.Type, body.Data
}

// endpoint is a real HTTP server that keeps the requests that it receives.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	received []request
}

// newEndpoint starts an endpoint that answers by the handler, or with 204 if that is nil.
func newEndpoint(t *testing.T, answer http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer}
	e.Server = httptest.NewServer(e)
	t.Cleanup(func() {
		e.CloseClientConnections()
		e.Close()
	})
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.received = append(e.received, request{r.Header.Clone(), body})
	answer := e.answer
	e.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, r)
}

// answers changes the endpoint's handler.
func (e *endpoint) answers(answer http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// take returns the requests since the last call.
func (e *endpoint) take() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.received
	e.received = nil
	return got
}

// newReceiver returns a world, an agent, and an endpoint for its webhooks.
func newReceiver(t *testing.T, answer http.HandlerFunc) (*world, *endpoint, *graphtest.Agent) {
	t.Helper()
	w := newWorld(t)
	return w, newEndpoint(t, answer), w.Agent()
}

// delivered makes the deliveries that are due, and returns what the endpoint has received since the last call.
func (w *world) delivered(e *endpoint) []request {
	w.DeliverWebhooks()
	return e.take()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// untested makes a webhook of an agent whose test waits, for all kinds of events if none is named.
func (w *world) untested(agent *graphtest.Agent, url string, kinds ...string) *webhooks.Card {
	made := graphtest.Got(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: &url, Kinds: kinds}))(w.t)
	require.Equal(w.t, "active", made.Webhook.State)
	return made.Webhook
}

// hook is untested for an address that has answered its test.
func (w *world) hook(agent *graphtest.Agent, url string, kinds ...string) *webhooks.Card {
	return w.tested(w.untested(agent, url, kinds...))
}

// tested marks a new webhook as tested, as an answered test does.
func (w *world) tested(hook *webhooks.Card) *webhooks.Card {
	w.Exec("DELETE FROM pending_deliveries WHERE webhook_id = $1 AND sequence = 0", hook.ID)
	w.Exec("UPDATE webhooks SET confirmed_at = stoa_now() WHERE id = $1", hook.ID)
	return hook
}

// tell causes one event of the agent: another agent asks for its friendship.
func (w *world) tell(agent *graphtest.Agent) { w.Asked(w.Agent(), agent) }

// queue returns the ids of the agent's unacknowledged events.
func (w *world) queue(agent *graphtest.Agent) (ids []string) {
	found := graphtest.Got(w.Events.PollEvents(agent.Ctx, events.PollInput{Version: page.Param{"2"}}))(w.t)
	for _, e := range found.Events {
		ids = append(ids, e.EventID.String())
	}
	return ids
}

func (w *world) card(agent *graphtest.Agent, id uuid.UUID) *webhooks.Card {
	return graphtest.Got(w.Webhooks.MyWebhook(agent.Ctx, webhooks.Input{WebhookID: id.String()}))(w.t).Webhook
}

// deliveries returns the attempts of a webhook, newest first.
func (w *world) deliveries(agent *graphtest.Agent, id uuid.UUID) []*webhooks.Delivery {
	return graphtest.Got(w.Webhooks.MyWebhookDeliveries(agent.Ctx, webhooks.DeliveriesInput{WebhookID: id.String()}))(w.t).Deliveries
}

func (w *world) change(agent *graphtest.Agent, id uuid.UUID, in webhooks.UpdateInput) (*webhooks.Result, error) {
	in.WebhookID = id.String()
	return w.Webhooks.UpdateWebhook(agent.Ctx, in)
}

// Webhooks get the events of the task board, which connections of version 1 do not get.
func TestTaskEventsReachWebhooks(t *testing.T) {
	t.Parallel()
	w, e, customer := newReceiver(t, nil)
	w.hook(customer, e.URL)
	task, responder := w.Tasked(customer, "A sonnet", "Fourteen lines.", 1000), w.Agent()
	response := w.Responded(responder, task.ID)
	got := w.delivered(e)
	require.Len(t, got, 1)
	kind, data := got[0].content(t)
	require.Equal(t, "task.responded", kind)
	require.Equal(t, map[string]any{"task_id": task.ID.String(), "response_id": response.ID.String(), "bot_id": responder.ID.String()}, data)
}
