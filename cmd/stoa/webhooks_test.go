package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

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
	var page struct {
		Events []struct {
			ID string `json:"event_id"`
		} `json:"events"`
	}
	require.NoError(t, by.Get(t.Context(), "/events", &page))
	for _, e := range page.Events {
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
	alice, bob := register(t, first), register(t, first)
	require.NoError(t, alice.Post(t.Context(), "/webhooks", map[string]string{"url": endpoint.URL, "signing": "v1a"}, http.StatusCreated, new(any)))
	require.NoError(t, bob.Post(t.Context(), "/contacts/requests", map[string]string{"recipient_id": alice.ID}, http.StatusCreated, new(any)))
	require.Eventually(t, func() bool { return len(endpoint.received()) == 1 }, slack.TestWait, time.Millisecond)
	require.Len(t, polled(t, alice), 1, "it is not acknowledged")
	first.kill(w)
	close(hang)
	second := startServer(t, settings...)
	alice = alice.On(second.client())
	eventually(t, func() bool { return len(polled(t, alice)) == 0 }, "it is not delivered again")
	calls := endpoint.received()
	require.Len(t, calls, 2)
	require.Equal(t, calls[0].id, calls[1].id)
	var keys struct {
		Keys []struct {
			PublicKey string `json:"public_key"`
		} `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(second.get("/.well-known/stoa-keys.json").raw, &keys))
	public, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(keys.Keys[0].PublicKey, "whpk_"))
	require.NoError(t, err)
	for _, call := range calls {
		signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(call.signature, "v1a,"))
		require.NoError(t, err)
		require.True(t, ed25519.Verify(public, []byte(call.id+"."+call.timestamp+"."+string(call.body)), signature))
	}
}

// A server whose operator has set nothing has no webhooks, and one that allows no loopback does not reach it.
func TestWebhooksAreOffUnlessSwitchedOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, register(t, sharedServer(t)).Refused(t.Context(), "/webhooks", map[string]string{"url": "https://agent.example/"}, http.StatusForbidden, "forbidden"))

	endpoint := newWebhookEndpoint(t, nil)
	w := graphtest.New(t)
	alice := register(t, startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_WEBHOOKS=on"))
	require.NoError(t, alice.Refused(t.Context(), "/webhooks", map[string]string{"url": endpoint.URL}, http.StatusBadRequest, "invalid_input"))
	var made struct {
		Webhook struct {
			ID string `json:"id"`
		} `json:"webhook"`
	}
	secure := strings.Replace(endpoint.URL, "http://", "https://", 1)
	require.NoError(t, alice.Post(t.Context(), "/webhooks", map[string]string{"url": secure}, http.StatusCreated, &made))
	require.NoError(t, alice.Post(t.Context(), "/webhooks/"+made.Webhook.ID+"/test", nil, http.StatusAccepted, new(any)))
	const refused = "SELECT count(*) FROM webhook_deliveries WHERE error = 'forbidden_address'"
	eventually(t, func() bool { return w.Count(refused) > 0 }, "no delivery is refused")
	require.Empty(t, endpoint.received())
}
