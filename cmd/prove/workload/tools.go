package workload

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// toolPath is where tools are called, protocol the version of the protocol that the agents speak (§4.11).
	toolPath = "/mcp"
	protocol = "2025-06-18"
)

// callOf is the body of a call of a tool.
func callOf(name string, arguments members) members {
	return members{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": members{"name": name, "arguments": arguments}}
}

// useTool posts a task by a tool: twice at the same moment, and once more.
func (a *Agent) useTool(ctx context.Context) {
	arguments := members{"title": "A task of " + a.Handle, "description": "By a tool.", "amount_minor": 7, "deadline": deadline()}
	r := keyed(history.ToolCall, "post_task", arguments)
	r.body, r.token = callOf("post_task", arguments), a.bearer()
	a.pair(ctx, r, r)
	a.repeat(ctx, r)
}

// byTool returns the call of a tool in the place of a request, for half of the requests of an agent that uses tools; else nil.
func (a *Agent) byTool(r request) members {
	name, fixed, _ := strings.Cut(r.fill(operations[r.operation].tool), " ")
	if name == "" || !a.tools || a.roll(2) == 0 {
		return nil
	}
	arguments := make(members)
	if raw := content(r.body).raw; raw != nil && json.Unmarshal(raw, &arguments) != nil {
		return nil
	}
	for argument := range strings.FieldsSeq(fixed) {
		name, value, _ := strings.Cut(argument, "=")
		arguments[name] = value
	}
	return callOf(name, arguments)
}

// toolResult is the answer to the call of a tool.
type toolResult struct {
	Result struct {
		IsError           bool    `json:"isError"`           //nolint:tagliatelle // a name of the protocol
		StructuredContent members `json:"structuredContent"` //nolint:tagliatelle // a name of the protocol
		Content           []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// untold returns what a tool answered as the request in its place would have been answered, and whether that was stored: without the
// fences of texts, and without what shows the present.
func (a *Agent) untold(r request, got answer) (told answer, replayed bool) {
	var result toolResult
	if got.into(&result) != nil || len(result.Result.Content) == 0 {
		return got, false
	}
	if result.Result.IsError {
		var refused struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
			Status     int `json:"status"`
			RetryAfter int `json:"retry_after_seconds"`
		}
		_ = json.Unmarshal([]byte(result.Result.Content[0].Text), &refused) // a refusal without a code is judged by its status
		told = answer{status: refused.Status, code: refused.Error.Code, retryAfter: time.Duration(refused.RetryAfter) * time.Second}
		if told.status == 0 {
			told.status = statusOf[told.code]
		}
		return told, false
	}
	body := result.Result.StructuredContent
	replayed, _ = body["replayed"].(bool)
	told.status = http.StatusOK
	if operations[r.operation].created && !replayed {
		told.status = http.StatusCreated
	}
	delete(body, "now")
	delete(body, "replayed")
	if order, ok := body["order"].(members); ok {
		a.nameSides(r, order)
	}
	told.body = content(plain(body)).raw
	return told, replayed
}

// statusOf are the statuses of refusals that never reached the API behind the tools.
var statusOf = map[string]int{
	"invalid_input": http.StatusBadRequest, "not_found": http.StatusNotFound, "service_unavailable": http.StatusServiceUnavailable,
}

// nameSides adds to the card of an order the ids that the order itself has beside its sides.
func (a *Agent) nameSides(r request, card members) {
	for _, side := range []string{"customer", "contractor"} {
		if agent, ok := card[side].(members); ok && card[side+"_id"] == nil {
			card[side+"_id"] = agent["id"]
		}
	}
	id, _ := card["id"].(string)
	known := a.w.orders.list(func(o *order) bool { return o.id == id })
	switch {
	case card["author_id"] != nil:
	case r.operation == history.OrderCreate, r.operation == history.TaskSelect:
		card["author_id"] = a.ID
	case len(known) > 0:
		card["author_id"] = known[0].author
	}
}

// fence finds the marks around texts of agents; they differ from call to call.
var fence = regexp.MustCompile(`</?untrusted [0-9a-f]{16}>`)

// present are the members of records that show what is now, also in an answer that was stored.
var present = map[string]bool{"actions": true, "drafts": true, "rated": true}

// plain returns a result without fences and without the members that show the present.
func plain(value any) any {
	switch value := value.(type) {
	case string:
		return fence.ReplaceAllString(value, "")
	case []any:
		for i := range value {
			value[i] = plain(value[i])
		}
	case members:
		for name, member := range value {
			if present[name] {
				delete(value, name)
			} else {
				value[name] = plain(member)
			}
		}
	}
	return value
}
