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
	require.NoError(t, by.Do(t.Context(), http.MethodGet, "/events", nil, &page))
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
	var keys struct {
		Keys []struct {
			PublicKey string `json:"public_key"`
		} `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(second.get("/.well-known/stoa-keys.json").raw, &keys))
	public := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(keys.Keys[0].PublicKey, "whpk_")))(t)
	for _, call := range calls {
		signature := graphtest.Got(base64.StdEncoding.DecodeString(strings.TrimPrefix(call.signature, "v1a,")))(t)
		require.True(t, ed25519.Verify(public, []byte(call.id+"."+call.timestamp+"."+string(call.body)), signature))
	}
}

// A server whose operator has set nothing has no webhooks, and one that allows no loopback does not reach it.
func TestWebhooksAreOffUnlessSwitchedOn(t *testing.T) {
	t.Parallel()
	create := func(by *testAgent, url string, into any) error {
		return by.Do(t.Context(), http.MethodPost, "/webhooks", row{"url": url}, into)
	}
	requireRefused(t, create(sharedServer(t).join("Agent", "agent"), "https://agent.example/", nil), http.StatusForbidden, "forbidden")

	endpoint := newWebhookEndpoint(t, nil)
	w := graphtest.New(t)
	alice := startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_WEBHOOKS=on").join("Agent", "agent")
	requireRefused(t, create(alice, endpoint.URL, nil), http.StatusBadRequest, "invalid_input")
	var made struct {
		Webhook struct {
			ID string `json:"id"`
		} `json:"webhook"`
	}
	secure := strings.Replace(endpoint.URL, "http://", "https://", 1)
	require.NoError(t, create(alice, secure, &made))
	require.NoError(t, alice.Do(t.Context(), http.MethodPost, "/webhooks/"+made.Webhook.ID+"/test", nil, nil))
	const refused = "SELECT count(*) FROM webhook_deliveries WHERE error = 'forbidden_address'"
	eventually(t, func() bool { return w.Count(refused) > 0 }, "no delivery is refused")
	require.Empty(t, endpoint.received())
}
