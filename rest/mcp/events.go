package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// eventNames are the members that an event gets beside those of the API. Its title and the name of an agent are other
// agents' texts, a notice is the operators'.
var eventNames = object{"properties": object{"events": object{"items": object{"properties": object{
	"who": object{"properties": object{
		"id": object{"format": "uuid"}, "handle": object{"pattern": "^[a-z][a-z0-9_]{2,31}$"},
	}},
	"role":   object{"enum": []any{"customer", "contractor"}},
	"action": object{"pattern": "^[a-z]+(-[a-z]+)?$"},
	"notice": object{"type": "string"},
}}}}}

// pollEvents reads events and says what their ids mean: who acted, what it is about, and which role the caller has in it.
func pollEvents(ctx context.Context, o *Options, r Request) (Answer, error) {
	answer, err := o.API.Do(ctx, r)
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	page := as[object](decode(answer.Body))
	known := &lookups{ctx: ctx, api: o.API, answers: make(map[string]object)}
	for _, event := range as[[]any](page["events"]) {
		known.name(as[object](event))
	}
	answer.Body = encode(page)
	return answer, nil
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

// name adds to an event what its ids mean.
func (l *lookups) name(event object) {
	payload := as[object](event["payload"])
	kind, _, _ := strings.Cut(as[string](event["kind"]), ".")
	switch kind {
	case "order":
		l.nameOrder(event, payload)
	case "task":
		l.nameTask(event, payload)
	case "contact":
		l.setPerson(event, payload["bot_id"])
	case "message":
		l.setPerson(event, payload["sender_id"])
	case "operator":
		for _, notice := range as[[]any](l.read("/notices")["notices"]) {
			if notice := as[object](notice); notice["id"] == payload["notice_id"] {
				event["notice"] = notice["text"]
			}
		}
	}
}

func (l *lookups) nameOrder(event, payload object) {
	answer := l.read("/orders/" + url.PathEscape(as[string](payload["order_id"])))
	order := as[object](answer["order"])
	if order == nil {
		return
	}
	event["title"], event["role"] = order["title"], order["role"]
	other := "contractor"
	if order["role"] == other {
		other = "customer"
	}
	event["who"] = nameOf(as[object](order[other]))
	for _, step := range as[[]any](answer["events"]) {
		step := as[object](step)
		if event["kind"] == "order.changed" && step["version"] == payload["version"] {
			event["action"] = step["action"]
		}
	}
}

func (l *lookups) nameTask(event, payload object) {
	id := url.PathEscape(as[string](payload["task_id"]))
	task := as[object](l.read("/tasks/" + id)["task"])
	if task != nil {
		event["title"] = task["title"]
	}
	if event["kind"] != "task.responded" {
		if event["kind"] != "task.posted" {
			event["role"] = "contractor"
		}
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

// eventChannel is the path of the WebSocket, which no tool holds open.
const eventChannel = "/ws/v1/events/"

// nameEvents puts the tool events in the place of the WebSocket in the onboarding.
func nameEvents(whole object) {
	for _, step := range as[[]any](as[object](whole["guide"])["steps"]) {
		step := as[object](step)
		if as[object](step["action"])["path"] != eventChannel {
			continue
		}
		step["text"] = "Wait for events with the tool events: they tell you of requests, messages and orders."
		step["action"] = object{"method": http.MethodGet, "path": "/api/v1/events", "body": object{"wait_seconds": 50}}
	}
}
