package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/graph/webhooks"
	"stoa/rest"
	"stoa/rest/socket"
)

const (
	eventsPath = "/api/v1/events"
	acksPath   = "/api/v1/events/acks"
	streamPath = "/api/v1/events/stream"
)

// eventSite returns a listener with a running event channel and its own world.
func eventSite(t *testing.T, quotas limits.Quotas) *site {
	t.Helper()
	hub := socket.New(socket.Config{Quotas: quotas, Logger: slog.New(slog.DiscardHandler)})
	w := graphtest.New(t, graphtest.WithQuotas(quotas), func(c *graph.Config) { c.Sockets = hub })
	hub.Graph, hub.URL = w.Graph, w.URL
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return serve(t, w, rest.Config{Events: hub})
}

// tell writes an order.changed event to an agent.
func (s *site) tell(to *graphtest.Agent, version int) {
	s.t.Helper()
	require.NoError(s.t, s.DB.Tx(s.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		payload := events.OrderPayload{OrderID: to.ID, Status: "funded", Version: version}
		return s.Events.Add(ctx, tx, events.Event{Recipient: to.ID, Kind: events.OrderChanged, Payload: payload})
	}))
}

// stream opens a stream of an agent's events.
func (s *site) stream(agent *graphtest.Agent, query string) io.Reader {
	s.t.Helper()
	request := graphtest.Got(http.NewRequest(http.MethodGet, s.url+streamPath+query, http.NoBody))(s.t)
	request.Header.Set("Authorization", "Bearer "+agent.Token)
	stream, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = stream.Body.Close() })
	require.Equal(s.t, http.StatusOK, stream.StatusCode)
	return stream.Body
}

func TestParametersOfEvents(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	for parameter, values := range map[string][]string{
		"wait": {"51", "-1", "", "1.0", "01", "x", "1&wait=1"}, "limit": {"0", "101", ""}, "version": {"0", "3", "v1"},
		"own": {"", "0", "1", "False", "no", "null", "false&own=false", "true&own=false"},
	} {
		for _, value := range values {
			for _, path := range []string{eventsPath, streamPath} {
				if path == eventsPath || parameter == "version" || parameter == "own" {
					refused := s.get(agent, path+"?"+parameter+"="+value)
					require.Contains(t, refused.fault(fault.InvalidInput)["fields"], parameter, value)
				}
			}
		}
	}
	for _, query := range []string{"?wait=0&limit=1&version=1&own=true", "?limit=100&version=2&cursor=5&own=false", ""} {
		s.get(agent, eventsPath+query).ok(200)
	}
	suspended := s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	s.get(suspended, eventsPath).fault(fault.Forbidden)
	s.get(suspended, streamPath).fault(fault.Forbidden)
	// This listener has no event channel, so no request can wait.
	s.get(agent, eventsPath+"?wait=1").fault(fault.ServiceUnavailable)
	s.get(agent, streamPath).fault(fault.ServiceUnavailable)
}

func TestBodiesOfAcks(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	list := func(n int) string {
		ids := make([]uuid.UUID, n)
		for i := range ids {
			ids[i] = uuid.New()
		}
		return string(graphtest.Got(json.Marshal(object{"event_ids": ids}))(t))
	}
	for _, body := range []string{
		`{}`, `[]`, `{"event_ids":null}`, `{"event_ids":[]}`, `{"event_ids":["x"]}`, `{"event_ids":[1]}`, `{"event_ids":[null]}`,
		`{"event_ids":"` + uuid.NewString() + `"}`, `{"event_ids":["{` + uuid.NewString() + `}"]}`, list(257),
		strings.Replace(list(1), "}", `,"x":1}`, 1), "",
	} {
		s.post(agent, acksPath, body).fault(fault.InvalidInput)
	}
	require.Len(t, s.post(agent, acksPath, list(256)).has(200, object{"acked": []any{}})["unknown"], 256)
}

// An agent that has used up its changes can still acknowledge.
func TestAcksAreNoChanges(t *testing.T) {
	t.Parallel()
	s, agent := eventSite(t, limits.Quotas{MutationsPerMinute: 1}).withAgent()
	ack := func() {
		s.post(agent, acksPath, object{"event_ids": []string{uuid.NewString()}}).is(200).carries("RateLimit", "")
	}
	ack()
	ack()
	s.patch(agent, "/bots/me", `{"bio":"x"}`).ok(200)
	s.patch(agent, "/bots/me", `{"bio":"y"}`).fault(fault.WriteLimited)
	ack()
}

const webhooksPath = "/api/v1/webhooks"

// delivered is a delivery that an endpoint received.
type delivered struct {
	header http.Header
	body   []byte
}

// newReceiver starts an endpoint that forwards received deliveries and answers with a status.
func newReceiver(t *testing.T, status int) (address string, received <-chan delivered) {
	t.Helper()
	all := make(chan delivered, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all <- delivered{r.Header.Clone(), body}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, all
}

// An agent can make, read, change and delete a webhook.
func TestWebhooksOverHTTP(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithWebhooks(webhooks.SenderConfig{AllowLoopback: true})).withAgent()
	address, received := newReceiver(t, http.StatusOK)
	made := s.post(agent, webhooksPath, object{"url": address, "signing": "v1", "kinds": []string{"order.changed"}}).ok(201)
	require.Regexp(t, "^whsec_", made["secret"])
	hook := made["webhook"].(object)
	path := webhooksPath + "/" + of(hook)
	contains(t, hook, object{
		"url": address, "kinds": []string{"order.changed"}, "own": true, "signing": "v1", "state": "active", "last_success_at": nil, "last_failure": nil,
	})
	for range 2 {
		byKey := s.post(agent, webhooksPath, `{"url":"https://agent.example/","signing":"v1a"}`).has(201, object{"secret": nil})
		require.Len(t, byKey["webhook"].(object)["kinds"], len(events.Kinds()))
	}
	s.post(agent, webhooksPath, `{"url":"https://agent.example/"}`).fault(fault.StateConflict)
	require.Len(t, s.get(agent, webhooksPath).ok(200)["webhooks"], 3)
	shown := s.get(agent, path)
	require.Equal(t, hook, shown.ok(200)["webhook"])
	require.NotContains(t, string(shown.raw), "whsec_")

	test := s.post(agent, path+"/test", nil).ok(202)
	s.DeliverWebhooks()
	require.Equal(t, test["event_id"], (<-received).header.Get("webhook-id"))
	deliveries := s.get(agent, path+"/deliveries").has(200, object{"next_before": nil})
	contains(t, first(deliveries, "deliveries"), object{
		"event_id": test["event_id"], "attempt": 1, "status": 200, "error": nil, "next_attempt_at": nil,
	})
	s.get(agent, path+"/deliveries?before=x").fault(fault.InvalidID)

	require.NotEqual(t, made["secret"], s.post(agent, path+"/rotate", nil).ok(200)["secret"])
	s.patch(agent, path, `{"state":"paused"}`).has(200, object{"webhook": object{"state": "paused"}})
	for _, body := range []string{`{"state":null}`, `{"signing":"v1a"}`, `{"kinds":"order.changed"}`} {
		s.patch(agent, path, body).fault(fault.InvalidInput)
	}
	for _, body := range []string{`{"url":1}`, `{"url":"https://agent.example/","state":"active"}`} {
		s.post(agent, webhooksPath, body).fault(fault.InvalidInput)
	}
	s.delete(agent, path).has(200, object{"deleted": true, "id": hook["id"]})
}

// A poll and a stream notice that an endpoint has acknowledged.
func TestAcknowledgedByAWebhook(t *testing.T) {
	t.Parallel()
	s := eventSite(t, limits.Quotas{})
	s.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{AllowLoopback: true})
	agent := s.Agent()
	for n := range 260 {
		s.tell(agent, n+1)
	}
	lines := bufio.NewScanner(s.stream(agent, ""))
	var versions []string
	read := func(n int) {
		for len(versions) < n && lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				versions = append(versions, data)
			}
		}
		require.Len(t, versions, n)
	}
	read(256) // the maximum number of unacknowledged events in flight
	address, received := newReceiver(t, http.StatusNoContent)
	go func() {
		for range received { // the queue below shows the deliveries
			continue
		}
	}()
	s.post(agent, webhooksPath, object{"url": address, "kinds": []string{"order.changed"}}).ok(201)
	require.Eventually(t, func() bool {
		s.DeliverWebhooks()
		return s.Count("SELECT count(*) FROM events WHERE recipient_id = $1", agent.ID) == 0
	}, slack.TestWait, 10*time.Millisecond)
	s.tell(agent, 261)
	for !strings.Contains(versions[len(versions)-1], `"version":261`) {
		read(len(versions) + 1)
	}
}
