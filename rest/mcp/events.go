package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// eventNames are the members that an event gets beside those of the API.
var eventNames = object{"type": "object", "properties": object{"events": object{"type": "array", "items": object{
	"type": "object", "properties": object{
		"who": object{"type": "object", "properties": object{
			"id": object{"type": "string", "format": "uuid"}, "handle": object{"type": "string", "pattern": "^[a-z][a-z0-9_]{2,31}$"},
			"display_name": object{"type": "string"},
		}},
		"title":  object{"type": "string"},
		"role":   object{"type": "string", "enum": []any{"customer", "contractor"}},
		"action": object{"type": "string", "pattern": "^[a-z]+(-[a-z]+)?$"},
	},
}}}}

// pollEvents reads events and says what their ids mean: who acted, what it is about, and which role the caller has in it. What the caller
// did itself is acknowledged and left out, unless it asks for it with own; an older server does not know that parameter.
func pollEvents(ctx context.Context, api API, r Request) (Answer, error) {
	wanted := strings.Contains(r.Target, "own=true")
	for {
		answer, err := api.Do(ctx, r)
		if err != nil || answer.Status != http.StatusOK {
			return answer, err
		}
		page := as[object](decode(answer.Body))
		known := &lookups{ctx: ctx, api: api, answers: make(map[string]object)}
		others, own := make([]any, 0), make([]any, 0)
		for _, event := range as[[]any](page["events"]) {
			if event := as[object](event); known.name(event) && !wanted {
				own = append(own, event["event_id"])
			} else {
				others = append(others, event)
			}
		}
		if len(own) > 0 {
			acknowledge := Request{
				Method: http.MethodPost, Target: "/api/v1/events/acks", Body: encode(object{"event_ids": own}),
			}
			if refused, err := api.Do(ctx, acknowledge); err != nil || refused.Status != http.StatusOK {
				return refused, err
			}
			if len(others) == 0 {
				continue
			}
		}
		page["events"] = others
		answer.Body = encode(page)
		return answer, nil
	}
}

// lookups reads what ids mean, each once. What cannot be read stays unnamed.
type lookups struct {
	ctx     context.Context //nolint:containedctx // of one call
	api     API
	answers map[string]object
}

// read returns the answer of the API to a path, nil if it has no success.
func (l *lookups) read(path string) object {
	known, ok := l.answers[path]
	if !ok {
		answer, err := l.api.Do(l.ctx, Request{Method: http.MethodGet, Target: "/api/v1" + path})
		if err == nil && answer.Status == http.StatusOK {
			known = as[object](decode(answer.Body))
		}
		l.answers[path] = known
	}
	return known
}

// name adds to an event what its ids mean, and reports whether it is an act of the caller's own.
func (l *lookups) name(event object) (own bool) {
	payload := as[object](event["payload"])
	kind, _, _ := strings.Cut(as[string](event["kind"]), ".")
	switch kind {
	case "order":
		return l.nameOrder(event, payload)
	case "task":
		l.nameTask(event, payload)
	case "contact":
		l.setPerson(event, payload["bot_id"])
	case "message":
		l.setPerson(event, payload["sender_id"])
	}
	return false
}

func (l *lookups) nameOrder(event, payload object) (own bool) {
	answer := l.read("/orders/" + url.PathEscape(as[string](payload["order_id"])))
	order := as[object](answer["order"])
	if order == nil {
		return false
	}
	event["title"], event["role"] = order["title"], order["role"]
	mine, other := as[string](order["role"]), "contractor"
	if mine == other {
		other = "customer"
	}
	event["who"] = nameOf(as[object](order[other]))
	for _, step := range as[[]any](answer["events"]) {
		step := as[object](step)
		if event["kind"] == "order.changed" && step["version"] == payload["version"] {
			event["action"] = step["action"]
			return step["participant_id"] == order[mine+"_id"]
		}
	}
	return false
}

func (l *lookups) nameTask(event, payload object) {
	id := url.PathEscape(as[string](payload["task_id"]))
	task := as[object](l.read("/tasks/" + id)["task"])
	if task != nil {
		event["title"] = task["title"]
	}
	if event["kind"] != "task.responded" {
		event["role"] = "contractor"
		if customer := as[object](task["customer"]); customer != nil {
			event["who"] = nameOf(customer)
		}
		return
	}
	event["role"] = "customer"
	for _, response := range as[[]any](l.read("/tasks/" + id + "/responses")["responses"]) {
		response := as[object](response)
		if response["id"] == payload["response_id"] {
			event["who"] = nameOf(as[object](response["bot"]))
			return
		}
	}
	l.setPerson(event, payload["bot_id"])
}

// setPerson names an agent: a contact, also with a closed profile, or one whose card is shown.
func (l *lookups) setPerson(event object, id any) {
	for _, contact := range as[[]any](l.read("/contacts")["contacts"]) {
		if bot := as[object](as[object](contact)["bot"]); bot["id"] == id {
			event["who"] = nameOf(bot)
			return
		}
	}
	if bot := as[object](l.read("/bots/" + url.PathEscape(as[string](id)))["bot"]); bot != nil {
		event["who"] = nameOf(bot)
	}
}

// nameOf is an agent as an event names it.
func nameOf(agent object) object { return pick(agent, []string{"id", "handle", "display_name"}) }
