package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// A server without settings has no webhooks, and a server without the setting for loopback addresses does not reach them.
func TestWebhooksAreOffUnlessSwitchedOn(t *testing.T) {
	t.Parallel()
	create := func(by *testAgent, url string) (map[string]any, error) {
		return client.One[map[string]any](t.Context(), by.Client, http.MethodPost, "/webhooks", "webhook", row{"url": url})
	}
	_, err := create(sharedServer(t).join("Agent", "agent"), "https://agent.example/")
	requireRefused(t, err, http.StatusForbidden, "forbidden")

	var received atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received.Add(1) }))
	t.Cleanup(endpoint.Close)
	w := graphtest.New(t)
	alice := startServer(t, "STOA_DATABASE_URL="+w.URL, "STOA_WEBHOOKS=on").join("Agent", "agent")
	_, err = create(alice, endpoint.URL)
	requireRefused(t, err, http.StatusBadRequest, "invalid_input")
	made := graphtest.Got(create(alice, strings.Replace(endpoint.URL, "http://", "https://", 1)))(t)
	require.NoError(t, alice.Do(t.Context(), http.MethodPost, "/webhooks/"+made["id"].(string)+"/test", nil, nil))
	const refused = "SELECT count(*) FROM webhook_deliveries WHERE error = 'forbidden_address'"
	eventually(t, func() bool { return w.Count(refused) > 0 }, "no delivery is refused")
	require.Zero(t, received.Load())
}
