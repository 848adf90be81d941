package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"stoa/graph/platform/bounds"
)

// possible is a request that a caller can make about a record now, and that the API does not name in the record's actions. Reads are among
// them only if a decision waits for them.
type possible struct {
	// path has {id} and {task_id} of the record, and {draft_id} of an order's newest draft.
	method, path string
	// lacks are the fields that the caller has to find; of a change, those that it may change.
	lacks []string
	when  func(record object, self string) bool
}

// possibles are the requests by the list of a record.
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

// isAsked reports whether a contact is a request to the caller.
func isAsked(contact object, _ string) bool {
	return as[object](contact["friendship"])["status"] == "incoming"
}

// isOpen reports whether an answer to a task is open, and its task as far as it is named.
func isOpen(response object) bool {
	task, named := response["task"].(object)
	return response["state"] == "open" && (!named || task["state"] == "open")
}

// isOwnOpen reports whether an answer is open and the caller's.
func isOwnOpen(response object, self string) bool {
	return isOpen(response) && writtenBy("bot")(response, self)
}

// mayDraft reports whether the caller may send one more draft of an order.
func mayDraft(order object, _ string) bool {
	sent, _ := as[json.Number](as[object](order["drafts"])["count"]).Int64() // 0 if it was not counted
	return order["role"] == "contractor" && order["state"] == "in_progress" && sent < bounds.DraftsPerOrder
}

// addPossible adds to the actions of a record, which the API named, the other requests that are possible.
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

// action is the request in the form of an action of the API.
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
