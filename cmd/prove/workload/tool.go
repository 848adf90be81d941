package workload

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// useTool posts a task by a tool: twice at the same moment, and once more.
func (a *Agent) useTool(ctx context.Context) {
	id := uuid.NewString()
	r := request{operation: history.ToolCall, id: id, subject: "post_task", method: http.MethodPost, path: "/mcp", page: true, token: a.bearer(), keep: true,
		accept: "application/json, text/event-stream",
		body: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": "post_task", "arguments": map[string]any{
				"operation_id": id, "title": "A task of " + a.Handle, "description": "By a tool.", "amount_minor": 7, "deadline": deadline(),
			},
		}}}
	a.pair(ctx, r, r)
	a.repeat(ctx, r)
}
