package rest_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/graph/webhooks"
)

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
