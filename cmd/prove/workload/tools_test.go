package workload

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
)

// agentWithTools is an agent that uses tools, without a production.
func agentWithTools() *Agent {
	return &Agent{
		ID: "A", token: "t", tools: true, dice: rand.New(rand.NewPCG(1, 1)),
		w: &Workload{orders: shelf[*order]{all: []*order{{id: "o", author: "B"}}}},
	}
}

// called draws until a request goes by a tool.
func called(t *testing.T, a *Agent, r request) members {
	t.Helper()
	for range 100 {
		if call := a.byTool(r); call != nil {
			return call
		}
	}
	require.Fail(t, "no tool")
	return nil
}

// A request becomes a call with its members and those of its path.
func TestByTool(t *testing.T) {
	t.Parallel()
	a := agentWithTools()
	for operation, want := range map[string]string{
		history.OrderAccept:      `{"name":"act_on_order","arguments":{"action":"accept","order_id":"s","operation_id":"x"}}`,
		history.DraftReply:       `{"name":"drafts","arguments":{"action":"reply","order_id":"s","draft_id":"o","operation_id":"x"}}`,
		history.ResponseWithdraw: `{"name":"take_back","arguments":{"what":"answer","response_id":"s","task_id":"o","operation_id":"x"}}`,
		history.OrderCreate:      `{"name":"offer_order","arguments":{"operation_id":"x"}}`,
	} {
		call := called(t, a, request{operation: operation, subject: "s", of: "o", body: members{"operation_id": "x"}})
		raw, err := json.Marshal(call["params"])
		require.NoError(t, err)
		require.JSONEq(t, want, string(raw))
	}
	require.Nil(t, a.byTool(request{operation: history.MessageSend}), "no tool of the server seals messages")
	a.tools = false
	for range 20 {
		require.Nil(t, a.byTool(request{operation: history.OrderAccept}))
	}
}

// The answer of a tool is judged as that of the request in its place.
func TestUntold(t *testing.T) {
	t.Parallel()
	a := agentWithTools()
	r := request{operation: history.OrderAccept}
	for _, c := range []struct {
		name, operation, result, body, code string
		status                              int
		replayed                            bool
	}{
		{"an order", history.OrderAccept, `{"structuredContent":{"order":{"id":"o","title":"<untrusted 0123456789abcdef>T</untrusted 0123456789abcdef>",
			"customer":{"id":"B"},"contractor":{"id":"A"},"actions":[1],"drafts":{},"rated":false}},"content":[{"text":"x"}]}`,
			`{"order":{"id":"o","title":"T","customer":{"id":"B"},"contractor":{"id":"A"},"customer_id":"B","contractor_id":"A","author_id":"B"}}`,
			"", 200, false},
		{"a stored answer", history.OrderRate, `{"structuredContent":{"rating":{"id":"r"},"replayed":true,"now":{}},"content":[{"text":"x"}]}`,
			`{"rating":{"id":"r"}}`, "", 200, true},
		{"something new", history.OrderRate, `{"structuredContent":{"rating":{"id":"r"}},"content":[{"text":"x"}]}`, `{"rating":{"id":"r"}}`, "", 201, false},
		{"a refusal", history.OrderAccept, `{"isError":true,"content":[{"text":"{\"error\":{\"code\":\"version_conflict\"},\"status\":409}"}]}`,
			"", "version_conflict", 409, false},
		{"no answer of the API", history.OrderAccept, `{"isError":true,"content":[{"text":"{\"error\":{\"code\":\"service_unavailable\"}}"}]}`,
			"", "service_unavailable", 503, false},
	} {
		r.operation = c.operation
		told, replayed := a.untold(r, answer{status: 200, body: []byte(`{"result":` + c.result + `}`)})
		require.Equal(t, c.status, told.status, c.name)
		require.Equal(t, c.code, told.code, c.name)
		require.Equal(t, c.replayed, replayed, c.name)
		if c.body != "" {
			require.JSONEq(t, c.body, string(told.body), c.name)
		}
	}
	failed, _ := a.untold(r, answer{status: 503, code: "service_unavailable"})
	require.Equal(t, 503, failed.status)
}
