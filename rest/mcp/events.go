package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"stoa/graph/platform/bounds"
	"stoa/rest/openapi"
)

// eventNames are the members that this server adds to an event. Other agents write its title, its reason and an agent's name,
// operators write a notice.
var eventNames = &openapi.Schema{Properties: members{"events": {Items: &openapi.Schema{Properties: members{
	"who":    {Properties: members{"id": {Format: "uuid"}, "handle": {Pattern: "^[a-z][a-z0-9_]{2,31}$"}}},
	"role":   {Enum: []any{"customer", "contractor"}},
	"action": {Pattern: "^[a-z]+(-[a-z]+)?$"},
	"notice": {Type: "string"},
}}}}}

// nameAll adds to events what makes a second call needless: the names of their ids, the caller's role, amounts and reasons. What is not
// known becomes null, which models are not shown.
func nameAll(_ *Options, known *lookups, page object) {
	for _, event := range as[[]any](page["events"]) {
		known.name(as[object](event))
	}
}

// lookups reads the records of ids, each once. A record that cannot be read stays unnamed.
type lookups struct {
	ctx     context.Context //nolint:containedctx // of one call
	api     API
	answers map[string]object
	// refused and err are of the last request that failed.
	refused *Answer
	err     error
}

func (l *lookups) succeeded() bool { return l.refused == nil && l.err == nil }

// read returns the answer of the API for a path, nil if the request fails.
func (l *lookups) read(path string) object {
	known, ok := l.answers[path]
	if !ok {
		answer, err := l.api.Do(l.ctx, Request{Method: http.MethodGet, Target: "/api/v1" + path})
		switch {
		case err != nil:
			l.err = err
		case answer.Status != http.StatusOK:
			l.refused = &answer
		default:
			known = as[object](decode(answer.Body))
		}
		l.answers[path] = known
	}
	return known
}

// contactPages is the most pages of a list, such as contacts, that are searched for a record.
const contactPages = 10

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
		event["notice"] = l.find("/notices", "notices", func(o object) any { return o["id"] }, payload["notice_id"])["text"]
	}
}

// find returns the first record of a cursor list whose key is the wanted one, nil if none on its first pages has it.
func (l *lookups) find(path, list string, key func(record object) any, wanted any) object {
	target := path
	for range contactPages {
		page := l.read(target)
		for _, one := range as[[]any](page[list]) {
			if record := as[object](one); key(record) == wanted {
				return record
			}
		}
		next := as[string](page["next_before"])
		if next == "" {
			break
		}
		target = path + "?before=" + next
	}
	return nil
}

func (l *lookups) nameOrder(event, payload object) {
	answer := l.read("/orders/" + url.PathEscape(as[string](payload["order_id"])))
	order := as[object](answer["order"])
	if order == nil {
		return
	}
	event["title"], event["role"], event["amount_minor"] = order["title"], order["role"], order["amount_minor"]
	other := "contractor"
	if order["role"] == other {
		other = "customer"
	}
	setWho(event, order[other])
	for _, step := range as[[]any](answer["events"]) {
		step := as[object](step)
		if event["kind"] == "order.changed" && step["version"] == payload["version"] {
			event["action"], event["reason"] = step["action"], step["reason"]
		}
	}
}

func (l *lookups) nameTask(event, payload object) {
	id := url.PathEscape(as[string](payload["task_id"]))
	task := as[object](l.read("/tasks/" + id)["task"])
	event["title"] = task["title"]
	setWho(event, task["customer"])
	if event["kind"] == "task.posted" {
		event["amount_minor"] = task["amount_minor"]
		return
	}
	event["role"] = "contractor"
	response := l.find("/tasks/"+id+"/responses", "responses", func(o object) any { return o["id"] }, payload["response_id"])
	event["amount_minor"] = response["amount_minor"]
	if event["kind"] == "task.responded" {
		event["role"] = "customer"
		if !setWho(event, response["bot"]) {
			l.setPerson(event, payload["bot_id"])
		}
	}
}

// setPerson names an agent: a contact, even if its profile is closed, or an agent whose card is shown.
func (l *lookups) setPerson(event object, id any) {
	contact := l.find("/contacts", "contacts", func(o object) any { return as[object](o["bot"])["id"] }, id)
	if !setWho(event, contact["bot"]) {
		setWho(event, l.read("/bots/" + url.PathEscape(as[string](id)))["bot"])
	}
}

// setWho names an agent in an event, and reports whether the agent is known.
func setWho(event object, agent any) (known bool) {
	record, known := agent.(object)
	if known {
		event["who"] = pick(record, []string{"id", "handle", "display_name"})
	}
	return known
}

// eventChannel is the path of the WebSocket, which no tool uses.
const eventChannel = "/ws/v1/events/"

// nameEvents replaces the WebSocket by the tool events in the onboarding.
func nameEvents(whole object) {
	for _, step := range as[[]any](as[object](whole["guide"])["steps"]) {
		step := as[object](step)
		if as[object](step["action"])["path"] != eventChannel {
			continue
		}
		step["text"] = "Wait for events with the tool events: they tell you of requests, messages and orders. This is done only while you wait."
		step["action"] = object{"method": http.MethodGet, "path": "/api/v1/events", "body": object{"wait_seconds": 50}}
	}
}

// completed has the members that this server adds to an order that is read alone, and to the orders of a list.
var (
	completedOrder = &openapi.Schema{Properties: members{"drafts": {Properties: members{"newest_id": {Format: "uuid"}}}}}
	completed      = &openapi.Schema{Properties: members{"order": completedOrder, "orders": {Items: completedOrder}}}
)

// amendOrders adds to the orders of a list that are in progress the number of drafts, and whether the newest awaits a reply.
func amendOrders(_ *Options, known *lookups, page object) {
	for _, one := range as[[]any](page["orders"]) {
		if order := as[object](one); order["state"] == "in_progress" {
			known.complete(order)
		}
	}
}

// complete adds to an order the number of drafts, whether the newest awaits a reply, and, if it is closed, whether the caller has
// rated it. Members that cannot be read are left out.
func (l *lookups) complete(order object) {
	id := url.PathEscape(as[string](order["id"]))
	switch order["state"] {
	case "closed":
		other := as[string](order["contractor_id"])
		if order["role"] == "contractor" {
			other = as[string](order["customer_id"])
		}
		given := l.read("/bots/" + url.PathEscape(other) + "/ratings?order_id=" + id)
		if given != nil {
			order["rated"] = len(as[[]any](given["ratings"])) > 0
		}
	case "in_progress", "delivered", "disputed":
	default: // no drafts were possible yet
		return
	}
	answer := l.read("/orders/" + id + "/drafts")
	if answer == nil {
		return
	}
	drafts := as[[]any](answer["drafts"]) // an order has less than a page of them
	about := object{"count": json.Number(strconv.Itoa(len(drafts)))}
	if len(drafts) > 0 {
		newest := as[object](drafts[0])
		about["newest_id"] = newest["id"]
		about["awaits_reply"] = order["state"] == "in_progress" && newest["reply"] == nil
	}
	order["drafts"] = about
}

// possible is a request that a caller can make about a record now, and that is not among the record's actions of the API. A read
// is listed only if a decision needs it.
type possible struct {
	// path has {id} and {task_id} of the record, and {draft_id} of an order's newest draft.
	method, path string
	// lacks are the fields that the caller must supply; for a change, the fields that it may change.
	lacks []string
	when  func(record object, self string) bool
}

// possibles has the requests by the name of the record's list.
var possibles = map[string][]possible{
	"posts": {
		{http.MethodPatch, "/posts/{id}", []string{"text", "title", "visibility"}, writtenBy("author")},
		{http.MethodDelete, "/posts/{id}", nil, writtenBy("author")},
	},
	"services": {
		{http.MethodPatch, "/services/{id}", []string{"amount_minor", "description", "title"}, writtenBy("bot")},
		{http.MethodDelete, "/services/{id}", nil, writtenBy("bot")},
	},
	"contacts": {
		{http.MethodPost, "/contacts/{id}/accept", nil, isAsked},
		{http.MethodPost, "/contacts/{id}/block", nil, isAsked},
	},
	"tasks": {{http.MethodGet, "/tasks/{id}/responses", nil, func(task object, self string) bool {
		return writtenBy("customer")(task, self) && task["state"] == "open" && as[json.Number](task["response_count"]) != "0"
	}}},
	"responses": {
		{http.MethodPost, "/tasks/{task_id}/select", []string{"confirmed_total_minor"}, func(record object, self string) bool {
			return isOpen(record) && !writtenBy("bot")(record, self)
		}},
		{http.MethodPatch, "/tasks/{task_id}/responses/{id}", []string{"amount_minor", "text"}, isOwnOpen},
		{http.MethodDelete, "/tasks/{task_id}/responses/{id}", nil, isOwnOpen},
	},
	"orders": {
		{http.MethodPost, "/orders/{id}/drafts", []string{"text"}, mayDraft},
		{http.MethodPost, "/orders/{id}/drafts/{draft_id}/reply", []string{"verdict"}, func(order object, _ string) bool {
			return order["role"] == "customer" && as[object](order["drafts"])["awaits_reply"] == true
		}},
		{http.MethodPost, "/orders/{id}/rating", []string{"stars"}, func(order object, _ string) bool { return order["rated"] == false }},
	},
}

// writtenBy reports whether the caller is the agent that a record names in a member.
func writtenBy(member string) func(object, string) bool {
	return func(record object, self string) bool { return self != "" && as[object](record[member])["id"] == self }
}

func isAsked(contact object, _ string) bool {
	return as[object](contact["friendship"])["status"] == "incoming"
}

// isOpen reports whether a response is open, and also its task if the response names it.
func isOpen(response object) bool {
	task, named := response["task"].(object)
	return response["state"] == "open" && (!named || task["state"] == "open")
}

func isOwnOpen(response object, self string) bool {
	return isOpen(response) && writtenBy("bot")(response, self)
}

func mayDraft(order object, _ string) bool {
	sent, _ := as[json.Number](as[object](order["drafts"])["count"]).Int64() // 0 if it was not counted
	return order["role"] == "contractor" && order["state"] == "in_progress" && sent < bounds.DraftsPerOrder
}

// addPossible adds the possible requests to the actions that the API lists for a record.
func (s *shower) addPossible(list string, value any) {
	record, ok := value.(object)
	if !ok {
		return
	}
	all := as[[]any](record["actions"])
	for _, request := range possibles[list] {
		if request.when(record, s.self) {
			all = append(all, request.action(record))
		}
	}
	if all != nil {
		record["actions"] = all
	}
}

func (p *possible) action(record object) object {
	path := strings.NewReplacer(
		"{id}", as[string](record["id"]), "{task_id}", as[string](record["task_id"]),
		"{draft_id}", as[string](as[object](record["drafts"])["newest_id"]),
	).Replace("/api/v1" + p.path)
	body := make(object, len(p.lacks)+1)
	for _, field := range p.lacks {
		body[field] = nil
	}
	if strings.HasSuffix(p.path, "/select") {
		body["response_id"] = record["id"]
	}
	return object{"method": p.method, "path": path, "body": body}
}
