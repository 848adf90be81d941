package server_test

import (
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// assignment is the story of tasks: one is given away, one is closed.
func assignment(w *twins) {
	create := func(body variables) operation {
		return operation{method: "POST", path: "/tasks", field: "createTask", body: body}
	}
	terms := variables{"title": " A sonnet ", "description": "of fourteen\nlines", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000}
	mine := w.same(create(terms))["task"].(map[string]any)["id"].(string)
	newest := w.overGraphQL(operation{field: "taskBoard"}).ok("taskBoard")["tasks"].([]any)
	require.Len(w.t, newest, 2)
	twin := newest[0].(map[string]any)["id"]
	for _, body := range []variables{
		{}, {"title": "", "description": "", "deadline": "tomorrow", "amount_minor": 0}, {"title": "two\nlines", "description": strings.Repeat("x", 8001)},
		{"title": "x", "description": "x", "deadline": "2001-01-01T00:00:00Z", "amount_minor": 1},
		{"title": "x", "description": "x", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1_000_000_000_000},
	} {
		w.refused(fault.InvalidInput, create(body))
	}
	watch := func(method, field string, body variables) operation {
		return operation{method: method, path: "/tasks/watch", field: field, body: body}
	}
	w.refused(fault.NotFound, watch("GET", "taskWatch", nil))
	w.refused(fault.InvalidInput, watch("PUT", "watchTasks", variables{"q": strings.Repeat("x", 161), "min_amount_minor": 0}))
	w.same(watch("PUT", "watchTasks", variables{"q": "poem", "min_amount_minor": 5}))
	w.same(watch("GET", "taskWatch", nil))
	w.same(watch("DELETE", "unwatchTasks", nil))
	on := func(method, rest, field, id string, other any, body variables) operation {
		return operation{method: method, path: "/tasks/" + id + rest, field: field, body: body, more: variables{"taskId": other}}
	}
	public := on("GET", "", "task", mine, twin, nil)
	public.anonymous = true
	w.same(public)
	w.same(on("GET", "", "task", mine, twin, nil))
	w.refused(fault.InvalidID, on("GET", "", "task", "x", "x", nil))
	w.refused(fault.NotFound, on("GET", "", "task", uuid.NewString(), uuid.NewString(), nil))
	list := func(query string, more variables) operation {
		return operation{method: "GET", path: "/tasks?" + query, field: "taskBoard", more: more, anonymous: true}
	}
	require.Len(w.t, w.same(list("", nil))["tasks"], 2)
	require.Len(w.t, w.same(list("q=SONNET&page=1&page_size=1", variables{"q": "SONNET", "page": "1", "pageSize": 1}))["tasks"], 1)
	require.Empty(w.t, w.same(list("q=zz", variables{"q": "zz"}))["tasks"])
	require.Empty(w.t, w.same(list("state=closed", variables{"state": "closed"}))["tasks"])
	w.refused(fault.InvalidInput, list("state=lost", variables{"state": "lost"}))
	w.refused(fault.InvalidPagination, list("page=1001", variables{"page": 1001}))
	w.refused(fault.InvalidSearch, list("q="+strings.Repeat("x", 161), variables{"q": strings.Repeat("x", 161)}))

	agent := w.Agent()
	peer := &twins{site: w.site, rest: agent, graphql: agent, covered: w.covered}
	respond := func(body variables) operation {
		return on("POST", "/responses", "respondToTask", mine, twin, body)
	}
	peer.same(on("GET", "", "task", mine, twin, nil))
	peer.refused(fault.NotFound, on("GET", "/responses", "taskResponses", mine, twin, nil))
	peer.refused(fault.InvalidInput, respond(variables{"amount_minor": 0}))
	peer.refused(fault.InvalidID, on("POST", "/responses", "respondToTask", "x", "x", variables{"text": "I"}))
	w.refused(fault.Forbidden, respond(variables{"text": "I"}))
	answered := peer.same(respond(variables{"text": "I\nscan", "amount_minor": 1005}))["response"].(map[string]any)["id"]
	peer.same(respond(variables{"text": "I\nscan", "amount_minor": 1005}))
	peer.refused(fault.StateConflict, respond(variables{"text": "You"}))
	require.Len(w.t, peer.same(on("GET", "/responses", "taskResponses", mine, twin, nil))["responses"], 1)
	require.Len(w.t, w.same(on("GET", "/responses", "taskResponses", mine, twin, nil))["responses"], 1)
	theirs := w.overGraphQL(on("", "", "taskResponses", "", twin, nil)).ok("taskResponses")["responses"].([]any)[0].(map[string]any)["id"]
	before := on("GET", "/responses?before="+mine, "taskResponses", mine, twin, nil)
	before.more["before"] = twin
	w.refused(fault.NotFound, before)

	changing := func(method, field, response string, other any, body variables) operation {
		op := on(method, "/responses/"+response, field, mine, twin, body)
		op.more["responseId"] = other
		return op
	}
	require.Len(w.t, peer.same(operation{method: "GET", path: "/tasks/responses", field: "listOwnResponses"})["responses"], 2)
	ownBefore := operation{method: "GET", path: "/tasks/responses?before=" + mine, field: "listOwnResponses", more: variables{"before": twin}}
	peer.refused(fault.NotFound, ownBefore)
	require.Len(w.t, w.same(operation{method: "GET", path: "/tasks?mine=true", field: "taskBoard", more: variables{"mine": "true"}})["tasks"], 1)
	w.refused(fault.InvalidInput, list("mine=no", variables{"mine": "no"}))
	w.refused(fault.Unauthorized, list("mine=true", variables{"mine": "true"}))
	w.refused(fault.Forbidden, changing("PATCH", "updateResponse", answered.(string), theirs, variables{"text": "You"}))
	peer.refused(fault.InvalidInput, changing("PATCH", "updateResponse", answered.(string), theirs, variables{}))
	require.Equal(w.t, "You", peer.same(changing("PATCH", "updateResponse", answered.(string), theirs, variables{"text": "You"}))["response"].(map[string]any)["text"])
	w.refused(fault.Forbidden, changing("DELETE", "withdrawResponse", answered.(string), theirs, nil))
	peer.same(changing("DELETE", "withdrawResponse", answered.(string), theirs, nil))
	peer.refused(fault.StateConflict, changing("DELETE", "withdrawResponse", answered.(string), theirs, nil))
	answered = peer.same(respond(variables{"text": "I\nscan", "amount_minor": 1005}))["response"].(map[string]any)["id"]
	theirs = w.overGraphQL(on("", "", "taskResponses", "", twin, nil)).ok("taskResponses")["responses"].([]any)[0].(map[string]any)["id"]

	choose := func(response, other any, body variables) operation {
		body["operation_id"], body["response_id"] = uuid.NewString(), response
		op := on("POST", "/select", "selectResponse", mine, twin, body)
		op.graphql = variables{"responseId": other}
		return op
	}
	peer.refused(fault.NotFound, choose(answered, theirs, variables{"confirmed_total_minor": 1106}))
	w.refused(fault.NotFound, choose(uuid.NewString(), uuid.NewString(), variables{"confirmed_total_minor": 1106}))
	w.refused(fault.InvalidInput, choose(answered, theirs, variables{}))
	w.refused(fault.PriceChanged, choose(answered, theirs, variables{"confirmed_total_minor": 1105}))
	selection := choose(answered, theirs, variables{"confirmed_total_minor": 1106})
	funded := w.same(selection)
	require.Equal(w.t, funded, w.same(selection))
	w.refused(fault.StateConflict, choose(answered, theirs, variables{"confirmed_total_minor": 1106}))
	shut := func(id string, other any) operation { return on("POST", "/close", "closeTask", id, other, nil) }
	w.refused(fault.StateConflict, shut(mine, twin))
	peer.refused(fault.NotFound, shut(mine, twin))
	w.same(on("GET", "", "task", mine, twin, nil))
	peer.same(on("GET", "", "task", mine, twin, nil))

	unwanted := w.same(create(terms))["task"].(map[string]any)["id"].(string)
	w.same(shut(unwanted, w.overGraphQL(operation{field: "taskBoard"}).ok("taskBoard")["tasks"].([]any)[0].(map[string]any)["id"]))
	require.Len(w.t, w.same(list("state=selected", variables{"state": "selected"}))["tasks"], 2)
}
