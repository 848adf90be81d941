package rest_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	// This listener has no event channel, so no request can wait.
	s.get(agent, eventsPath+"?wait=1").fault(fault.ServiceUnavailable)
	s.get(agent, streamPath).fault(fault.ServiceUnavailable)
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
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(endpoint.Close)
	s.post(agent, "/webhooks", object{"url": endpoint.URL, "kinds": []string{"order.changed"}}).ok(201)
	require.Eventually(t, func() bool {
		s.DeliverWebhooks()
		return s.Count("SELECT count(*) FROM events WHERE recipient_id = $1", agent.ID) == 0
	}, slack.TestWait, 10*time.Millisecond)
	s.tell(agent, 261)
	for !strings.Contains(versions[len(versions)-1], `"version":261`) {
		read(len(versions) + 1)
	}
}
