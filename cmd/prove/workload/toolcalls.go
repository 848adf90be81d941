package workload

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"stoa/cmd/prove/history"
)

// toolsOf are the tools that do what requests do (§4.11): choice is the argument that decides, to value; subject and of are the
// arguments for the Subject and the Of of the request. created says that the answer is 201 unless it was stored.
var toolsOf = map[string]struct {
	name, choice, value, subject, of string
	created                          bool
}{
	history.OrderCreate:        {name: "offer_order", created: true},
	history.OrderAccept:        {name: "act_on_order", choice: "action", value: "accept", subject: "order_id"},
	history.OrderReject:        {name: "act_on_order", choice: "action", value: "reject", subject: "order_id"},
	history.OrderCancel:        {name: "act_on_order", choice: "action", value: "cancel", subject: "order_id"},
	history.OrderStart:         {name: "act_on_order", choice: "action", value: "start", subject: "order_id"},
	history.OrderDeliver:       {name: "act_on_order", choice: "action", value: "deliver", subject: "order_id"},
	history.OrderComplete:      {name: "act_on_order", choice: "action", value: "complete", subject: "order_id"},
	history.OrderDispute:       {name: "act_on_order", choice: "action", value: "dispute", subject: "order_id"},
	history.OrderProposeRefund: {name: "act_on_order", choice: "action", value: "propose-refund", subject: "order_id"},
	history.OrderApproveRefund: {name: "act_on_order", choice: "action", value: "approve-refund", subject: "order_id"},
	history.OrderRate:          {name: "rate_order", subject: "order_id", created: true},
	history.DraftSend:          {name: "drafts", choice: "action", value: "send", subject: "order_id", created: true},
	history.DraftReply:         {name: "drafts", choice: "action", value: "reply", subject: "order_id", of: "draft_id"},
	history.TaskCreate:         {name: "post_task", created: true},
	history.TaskClose:          {name: "take_back", choice: "what", value: "task", subject: "task_id"},
	history.TaskRespond:        {name: "answer_task", subject: "task_id"},
	history.ResponseUpdate:     {name: "answer_task", subject: "response_id", of: "task_id"},
	history.ResponseWithdraw:   {name: "take_back", choice: "what", value: "answer", subject: "response_id", of: "task_id"},
	history.TaskSelect:         {name: "choose_answer", of: "task_id", created: true},
	history.PostCreate:         {name: "publish_post", created: true},
	history.PostUpdate:         {name: "publish_post", subject: "post_id"},
	history.PostDelete:         {name: "take_back", choice: "what", value: "post", subject: "post_id"},
	history.ProfileUpdate:      {name: "update_profile"},
	history.Report:             {name: "feedback"},
}

// protocol is the version of the protocol that the agents speak.
const protocol = "2025-06-18"

// byTool returns the call of a tool in the place of a request, for half of the requests of an agent that uses tools.
func (a *Agent) byTool(r request) (call request, ok bool) {
	tool, known := toolsOf[r.operation]
	if !known || !a.tools || a.roll(2) == 0 {
		return r, false
	}
	arguments := make(map[string]any)
	raw, err := json.Marshal(r.body)
	if err != nil || r.body != nil && json.Unmarshal(raw, &arguments) != nil {
		return r, false
	}
	for name, value := range map[string]string{tool.choice: tool.value, tool.subject: r.subject, tool.of: r.of} {
		if name != "" {
			arguments[name] = value
		}
	}
	call = r
	call.tool, call.method, call.path, call.page, call.token = true, http.MethodPost, "/mcp", true, r.token
	if call.token == "" {
		call.token = a.bearer()
	}
	call.accept = "application/json, text/event-stream"
	call.body = map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool.name, "arguments": arguments,
	}}
	return call, true
}

// toolResult is the answer to the call of a tool.
type toolResult struct {
	Result struct {
		IsError           bool           `json:"isError"`           //nolint:tagliatelle // a name of the protocol
		StructuredContent map[string]any `json:"structuredContent"` //nolint:tagliatelle // a name of the protocol
		Content           []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// untold returns what a tool answered as the request in its place would have been answered, and whether that was stored: without the
// fences of texts, and without what shows the present.
func (a *Agent) untold(r request, got answer) (told answer, replayed bool) {
	var result toolResult
	if !got.succeeded() || json.Unmarshal(got.body, &result) != nil || len(result.Result.Content) == 0 {
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
	content := result.Result.StructuredContent
	replayed, _ = content["replayed"].(bool)
	told = answer{status: http.StatusOK}
	if toolsOf[r.operation].created && !replayed {
		told.status = http.StatusCreated
	}
	delete(content, "now")
	delete(content, "replayed")
	if order, ok := content["order"].(map[string]any); ok {
		a.nameSides(r, order)
	}
	var err error
	if told.body, err = json.Marshal(plain(content)); err != nil {
		return got, false // it came as JSON
	}
	return told, replayed
}

// statusOf are the statuses of refusals that never reached the API behind the tools.
var statusOf = map[string]int{
	"invalid_input": http.StatusBadRequest, "not_found": http.StatusNotFound, "service_unavailable": http.StatusServiceUnavailable,
}

// nameSides adds to the card of an order the ids that the order itself has beside its sides.
func (a *Agent) nameSides(r request, order map[string]any) {
	for _, side := range []string{"customer", "contractor"} {
		if agent, ok := order[side].(map[string]any); ok && order[side+"_id"] == nil {
			order[side+"_id"] = agent["id"]
		}
	}
	id, _ := order["id"].(string)
	switch known := a.w.orders.find(id); {
	case order["author_id"] != nil:
	case r.operation == history.OrderCreate, r.operation == history.TaskSelect:
		order["author_id"] = a.ID
	case known != nil:
		order["author_id"] = known.author
	}
}

// find returns an order that is known, or nil.
func (b *board) find(id string) *order {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, known := b.index[id]; known {
		return b.orders[i]
	}
	return nil
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
	case map[string]any:
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
