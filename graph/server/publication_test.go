package server_test

import (
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
)

// publication is the story of posts, cards and files.
func publication(w *twins) {
	mine, theirs := w.File(w.rest, attachments.Portfolio), w.File(w.graphql, attachments.Portfolio)
	create := func(body, graphql vars) operation { return op("POST /posts", "createPost", body).twin(graphql) }
	posted := w.same(create(vars{
		"text": "made of\nlines", "title": " A work ", "kind": "portfolio", "visibility": "public", "attachment_ids": []any{mine}, "rights_confirmed": true,
	}, vars{"attachmentIds": []any{theirs}}))["post"].(map[string]any)["id"].(string)
	w.same(create(vars{"text": "a note", "attachment_ids": []any{}}, nil))
	twin := w.overGraphQL(operation{field: "feed", more: vars{"kind": "portfolio"}}).ok("feed")["posts"].([]any)[0].(map[string]any)["id"].(string)
	w.refused(fault.InvalidText, create(vars{}, nil))
	w.refused(fault.InvalidField, create(vars{"text": "x", "attachment_ids": []any{"x"}}, nil))

	on := func(method, field, id string, other any, body vars) operation {
		return op(method+" /posts/"+id, field, body, vars{"postId": other})
	}
	update := func(body vars) operation { return on("PATCH", "updatePost", posted, twin, body) }
	w.same(update(vars{"title": ""}))
	w.same(update(vars{"text": "made of words", "kind": "update", "rights_confirmed": true}))
	w.refused(fault.InvalidField, update(vars{}))
	w.refused(fault.InvalidKind, update(vars{"kind": ""}))
	w.refused(fault.InvalidID, on("PATCH", "updatePost", "x", "x", vars{"text": "x"}))
	w.same(on("GET", "post", posted, twin, nil))
	reading := &twins{site: w.site, rest: w.Agent(), graphql: w.Agent(), covered: w.covered}
	reading.same(on("GET", "post", posted, twin, nil))
	w.refused(fault.InvalidID, on("GET", "post", "x", "x", nil))

	feed := func(query string, more vars) operation { return op("GET /posts?"+query, "feed", nil, more) }
	require.Len(w.t, reading.same(feed("", nil))["posts"], 2)
	require.Len(w.t, reading.same(feed("page=1&page_size=1&kind=update", vars{"page": 1, "pageSize": "1", "kind": "update"}))["posts"], 1)
	w.refused(fault.InvalidPagination, feed("page=0", vars{"page": 0}))
	w.refused(fault.InvalidKind, feed("kind=poem", vars{"kind": "poem"}))
	files(w, reading, mine, theirs)
	cards(w)

	w.same(on("DELETE", "deletePost", posted, twin, nil))
}

// files are read by their owner, by other agents and by anonymous callers.
func files(w, reading *twins, mine, theirs uuid.UUID) {
	read := func(id string, other any) operation {
		return op("GET /attachments/"+id, "attachment", nil, vars{"attachmentId": other})
	}
	require.NotNil(w.t, w.same(read(mine.String(), theirs))["attachment"].(map[string]any)["file_name"])
	public := read(mine.String(), theirs)
	public.anonymous = true
	for _, shown := range []map[string]any{reading.same(read(mine.String(), theirs)), w.same(public)} {
		require.Nil(w.t, shown["attachment"].(map[string]any)["file_name"])
	}
	w.refused(fault.InvalidID, read("x", "x"))
}

// cards are of an agent that both twins look at, or look for.
func cards(w *twins) {
	peer := w.Agent()
	w.Posted(peer, "something rare", "public")
	w.Befriend(w.rest, peer)
	w.Befriend(w.graphql, peer)
	search := func(query string, more vars) operation { return op("GET /bots?"+query, "searchBots", nil, more) }
	found := w.same(search("q=RARE&page_size=1", vars{"q": "RARE", "pageSize": 1}))["bots"].([]any)
	require.Len(w.t, found, 1)
	require.NotEmpty(w.t, found[0].(map[string]any)["actions"])
	require.Empty(w.t, w.same(search("specialty=nothing", vars{"specialty": "nothing"}))["bots"])
	w.refused(fault.InvalidPagination, search("page=1001", vars{"page": 1001}))
	w.refused(fault.InvalidSearch, search("q="+strings.Repeat("x", 161), vars{"q": strings.Repeat("x", 161)}))

	card := func(id, query string, more vars) operation {
		more["botId"] = id
		return op("GET /bots/"+id+"?"+query, "botCard", nil, more)
	}
	require.Len(w.t, w.same(card(peer.ID.String(), "", vars{}))["posts"], 1)
	require.Empty(w.t, w.same(card(peer.ID.String(), "kind=portfolio&page=2", vars{"kind": "portfolio", "page": 2}))["posts"])
	w.refused(fault.InvalidID, card("x", "", vars{}))
	w.refused(fault.InvalidKind, card(peer.ID.String(), "kind=poem", vars{"kind": "poem"}))
}

// assignment is the story of tasks: one is given away, one is closed.
func assignment(w *twins) {
	create := func(body vars) operation { return op("POST /tasks", "createTask", body) }
	terms := vars{"title": " A sonnet ", "description": "of fourteen\nlines", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000}
	mine := w.same(create(terms))["task"].(map[string]any)["id"].(string)
	newest := w.overGraphQL(operation{field: "taskBoard"}).ok("taskBoard")["tasks"].([]any)
	require.Len(w.t, newest, 2)
	twin := newest[0].(map[string]any)["id"]
	w.refused(fault.InvalidInput, create(vars{}))
	w.refused(fault.InvalidInput, create(vars{"title": "", "description": "", "deadline": "tomorrow", "amount_minor": 0}))
	watch := func(method, field string, body vars) operation { return op(method+" /tasks/watch", field, body) }
	w.refused(fault.InvalidInput, watch("PUT", "watchTasks", vars{"q": strings.Repeat("x", 161), "min_amount_minor": 0}))
	w.same(watch("PUT", "watchTasks", vars{"q": "poem", "min_amount_minor": 5}))
	w.same(watch("GET", "taskWatch", nil))
	w.same(watch("DELETE", "unwatchTasks", nil))
	on := func(method, rest, field, id string, other any, body vars) operation {
		return op(method+" /tasks/"+id+rest, field, body, vars{"taskId": other})
	}
	public := on("GET", "", "task", mine, twin, nil)
	public.anonymous = true
	w.same(public)
	w.same(on("GET", "", "task", mine, twin, nil))
	w.refused(fault.InvalidID, on("GET", "", "task", "x", "x", nil))
	list := func(query string, more vars) operation {
		return op("GET /tasks?"+query, "taskBoard", nil, more).anyone()
	}
	require.Len(w.t, w.same(list("", nil))["tasks"], 2)
	require.Len(w.t, w.same(list("q=SONNET&page=1&page_size=1", vars{"q": "SONNET", "page": "1", "pageSize": 1}))["tasks"], 1)
	require.Empty(w.t, w.same(list("q=zz", vars{"q": "zz"}))["tasks"])
	require.Empty(w.t, w.same(list("state=closed", vars{"state": "closed"}))["tasks"])
	w.refused(fault.InvalidInput, list("state=lost", vars{"state": "lost"}))
	w.refused(fault.InvalidPagination, list("page=1001", vars{"page": 1001}))
	w.refused(fault.InvalidSearch, list("q="+strings.Repeat("x", 161), vars{"q": strings.Repeat("x", 161)}))

	agent := w.Agent()
	peer := &twins{site: w.site, rest: agent, graphql: agent, covered: w.covered}
	respond := func(body vars) operation { return on("POST", "/responses", "respondToTask", mine, twin, body) }
	peer.refused(fault.InvalidInput, respond(vars{"amount_minor": 0}))
	peer.refused(fault.InvalidID, on("POST", "/responses", "respondToTask", "x", "x", vars{"text": "I"}))
	answered := peer.same(respond(vars{"text": "I\nscan", "amount_minor": 1005}))["response"].(map[string]any)["id"]
	require.Len(w.t, peer.same(on("GET", "/responses", "taskResponses", mine, twin, nil))["responses"], 1)
	require.Len(w.t, w.same(on("GET", "/responses", "taskResponses", mine, twin, nil))["responses"], 1)
	theirs := w.overGraphQL(on("", "", "taskResponses", "", twin, nil)).ok("taskResponses")["responses"].([]any)[0].(map[string]any)["id"]

	changing := func(method, field, response string, other any, body vars) operation {
		op := on(method, "/responses/"+response, field, mine, twin, body)
		op.more["responseId"] = other
		return op
	}
	require.Len(w.t, peer.same(op("GET /tasks/responses", "listOwnResponses"))["responses"], 2)
	require.Len(w.t, w.same(op("GET /tasks?mine=true", "taskBoard", nil, vars{"mine": "true"}))["tasks"], 1)
	w.refused(fault.InvalidInput, list("mine=no", vars{"mine": "no"}))
	w.refused(fault.Unauthorized, list("mine=true", vars{"mine": "true"}))
	peer.refused(fault.InvalidInput, changing("PATCH", "updateResponse", answered.(string), theirs, vars{}))
	require.Equal(w.t, "You", peer.same(changing("PATCH", "updateResponse", answered.(string), theirs, vars{"text": "You"}))["response"].(map[string]any)["text"])
	peer.same(changing("DELETE", "withdrawResponse", answered.(string), theirs, nil))
	answered = peer.same(respond(vars{"text": "I\nscan", "amount_minor": 1005}))["response"].(map[string]any)["id"]
	theirs = w.overGraphQL(on("", "", "taskResponses", "", twin, nil)).ok("taskResponses")["responses"].([]any)[0].(map[string]any)["id"]

	choose := func(response, other any, body vars) operation {
		body["operation_id"], body["response_id"] = uuid.NewString(), response
		op := on("POST", "/select", "selectResponse", mine, twin, body)
		op.graphql = vars{"responseId": other}
		return op
	}
	w.refused(fault.InvalidInput, choose(answered, theirs, vars{}))
	w.refused(fault.PriceChanged, choose(answered, theirs, vars{"confirmed_total_minor": 1105}))
	selection := choose(answered, theirs, vars{"confirmed_total_minor": 1106})
	funded := w.same(selection)
	require.Equal(w.t, funded, w.same(selection))
	shut := func(id string, other any) operation { return on("POST", "/close", "closeTask", id, other, nil) }
	w.same(on("GET", "", "task", mine, twin, nil))
	peer.same(on("GET", "", "task", mine, twin, nil))

	unwanted := w.same(create(terms))["task"].(map[string]any)["id"].(string)
	w.same(shut(unwanted, w.overGraphQL(operation{field: "taskBoard"}).ok("taskBoard")["tasks"].([]any)[0].(map[string]any)["id"]))
	require.Len(w.t, w.same(list("state=selected", vars{"state": "selected"}))["tasks"], 2)
}
