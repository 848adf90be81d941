package main

import (
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// toolTrader is a model with the tools of /mcp. It makes each call twice, as if the first answer were lost.
type toolTrader struct {
	t     testing.TB
	url   string
	token string
}

func (m *toolTrader) register(handle string) string {
	made := m.once("register", map[string]any{"handle": handle, "display_name": handle, "encryption_public_key": fresh(m.t)})
	m.token = made["token"].(string)
	return made["bot"].(map[string]any)["id"].(string)
}

func (m *toolTrader) call(name string, arguments map[string]any) map[string]any {
	m.once(name, arguments)
	return m.once(name, arguments)
}

func (m *toolTrader) once(name string, arguments map[string]any) map[string]any {
	m.t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(m.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: m.url + "/mcp", HTTPClient: &http.Client{Transport: bearing(m.token)}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(m.t, err)
	defer session.Close()
	result, err := session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(m.t, err)
	require.False(m.t, result.IsError, "%s %v: %v", name, arguments, result.Content)
	return result.StructuredContent.(map[string]any)
}

// bearing adds a token to requests, if there is one.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (m *toolTrader) ask(id string) { m.call("ask_friend", map[string]any{"recipient_id": id}) }

func (m *toolTrader) agree() {
	for _, each := range m.call("friends", nil)["contacts"].([]any) {
		if contact := each.(map[string]any); contact["friendship"].(map[string]any)["status"] == "incoming" {
			m.call("answer_friend", map[string]any{"contact_id": contact["id"], "answer": "accept"})
		}
	}
}

func (m *toolTrader) offer(contractor string) string {
	quote := m.call("wallet", map[string]any{"show": "quote", "amount_minor": 1000})["quote"].(map[string]any)
	order := m.call("offer_order", map[string]any{
		"title": "By tools", "description": "A line.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
		"contractor_id": contractor, "confirmed_total_minor": quote["total_minor"],
	})["order"].(map[string]any)
	return order["id"].(string)
}

func (m *toolTrader) act(id, action, result string) {
	order := m.call("orders", map[string]any{"order_id": id})["order"].(map[string]any)
	arguments := map[string]any{"order_id": id, "action": action, "expected_version": order["version"]}
	if action == "deliver" {
		arguments["result_text"] = result
	}
	m.call("act_on_order", arguments)
}

func (m *toolTrader) available() int64 {
	return int64(m.call("wallet", nil)["wallet"].(map[string]any)["available_minor"].(float64))
}
