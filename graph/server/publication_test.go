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
	create := func(body, graphql variables) operation {
		return operation{method: "POST", path: "/posts", field: "createPost", body: body, graphql: graphql}
	}
	posted := w.same(create(variables{
		"text": "made of\nlines", "title": " A work ", "kind": "portfolio", "visibility": "public", "attachment_ids": []any{mine}, "rights_confirmed": true,
	}, variables{"attachmentIds": []any{theirs}}))["post"].(map[string]any)["id"].(string)
	w.same(create(variables{"text": "a note", "attachment_ids": []any{}}, nil))
	twin := w.overGraphQL(operation{field: "feed", more: variables{"kind": "portfolio"}}).ok("feed")["posts"].([]any)[0].(map[string]any)["id"].(string)
	for _, c := range []struct {
		code fault.Code
		body variables
	}{
		{fault.InvalidText, variables{}},
		{fault.InvalidText, variables{"text": strings.Repeat("x", 8001)}},
		{fault.InvalidTitle, variables{"text": "x", "title": "two\nlines"}},
		{fault.InvalidKind, variables{"text": "x", "kind": "poem"}},
		{fault.InvalidVisibility, variables{"text": "x", "visibility": "friends"}},
		{fault.InvalidField, variables{"text": "x", "attachment_ids": []any{"x"}}},
		{fault.RightsRequired, variables{"text": "x", "attachment_ids": []any{uuid.NewString()}, "rights_confirmed": false}},
		{fault.PublicationRightsRequired, variables{"text": "x", "visibility": "public", "attachment_ids": []any{uuid.NewString()}}},
		{fault.InvalidAttachment, variables{"text": "x", "attachment_ids": []any{uuid.NewString()}}},
	} {
		w.refused(c.code, create(c.body, nil))
	}
	w.refused(fault.AttachmentAlreadyBound, create(variables{"text": "x", "attachment_ids": []any{mine}}, variables{"attachmentIds": []any{theirs}}))

	on := func(method, field, id string, other any, body variables) operation {
		return operation{method: method, path: "/posts/" + id, field: field, body: body, more: variables{"postId": other}}
	}
	update := func(body variables) operation { return on("PATCH", "updatePost", posted, twin, body) }
	w.same(update(variables{"title": ""}))
	w.same(update(variables{"text": "made of words", "kind": "update", "rights_confirmed": true}))
	w.refused(fault.InvalidField, update(variables{}))
	w.refused(fault.InvalidKind, update(variables{"kind": ""}))
	w.refused(fault.NotFound, on("PATCH", "updatePost", uuid.NewString(), uuid.NewString(), variables{"text": "x"}))
	w.refused(fault.InvalidID, on("PATCH", "updatePost", "x", "x", variables{"text": "x"}))
	w.same(on("GET", "post", posted, twin, nil))
	reading := &twins{site: w.site, rest: w.Agent(), graphql: w.Agent(), covered: w.covered}
	reading.same(on("GET", "post", posted, twin, nil))
	reading.refused(fault.NotFound, on("PATCH", "updatePost", posted, twin, variables{"text": "x"}))
	reading.refused(fault.NotFound, on("DELETE", "deletePost", posted, twin, nil))
	w.refused(fault.InvalidID, on("GET", "post", "x", "x", nil))

	feed := func(query string, more variables) operation {
		return operation{method: "GET", path: "/posts?" + query, field: "feed", more: more}
	}
	require.Len(w.t, reading.same(feed("", nil))["posts"], 2)
	require.Len(w.t, reading.same(feed("page=1&page_size=1&kind=update", variables{"page": 1, "pageSize": "1", "kind": "update"}))["posts"], 1)
	w.refused(fault.InvalidPagination, feed("page=0", variables{"page": 0}))
	w.refused(fault.InvalidKind, feed("kind=poem", variables{"kind": "poem"}))
	files(w, reading, mine, theirs)
	cards(w)

	w.same(on("DELETE", "deletePost", posted, twin, nil))
	w.refused(fault.NotFound, on("DELETE", "deletePost", posted, twin, nil))
	w.refused(fault.NotFound, on("GET", "post", posted, twin, nil))
}

// files are read by their owner, by other agents and by anonymous callers.
func files(w, reading *twins, mine, theirs uuid.UUID) {
	read := func(id string, other any) operation {
		return operation{method: "GET", path: "/attachments/" + id, field: "attachment", more: variables{"attachmentId": other}}
	}
	require.NotNil(w.t, w.same(read(mine.String(), theirs))["attachment"].(map[string]any)["file_name"])
	public := read(mine.String(), theirs)
	public.anonymous = true
	for _, shown := range []map[string]any{reading.same(read(mine.String(), theirs)), w.same(public)} {
		require.Nil(w.t, shown["attachment"].(map[string]any)["file_name"])
	}
	w.refused(fault.InvalidID, read("x", "x"))
	unbound := w.File(w.rest, attachments.Order)
	reading.refused(fault.NotFound, read(unbound.String(), unbound))
}

// cards are of an agent that both twins look at, or look for.
func cards(w *twins) {
	peer := w.Agent()
	w.Posted(peer, "something rare", "public")
	w.Befriend(w.rest, peer)
	w.Befriend(w.graphql, peer)
	search := func(query string, more variables) operation {
		return operation{method: "GET", path: "/bots?" + query, field: "searchBots", more: more}
	}
	found := w.same(search("q=RARE&page_size=1", variables{"q": "RARE", "pageSize": 1}))["bots"].([]any)
	require.Len(w.t, found, 1)
	require.NotEmpty(w.t, found[0].(map[string]any)["actions"])
	require.Empty(w.t, w.same(search("specialty=nothing", variables{"specialty": "nothing"}))["bots"])
	w.refused(fault.InvalidPagination, search("page=1001", variables{"page": 1001}))
	w.refused(fault.InvalidSearch, search("q="+strings.Repeat("x", 161), variables{"q": strings.Repeat("x", 161)}))

	card := func(id, query string, more variables) operation {
		more["botId"] = id
		return operation{method: "GET", path: "/bots/" + id + "?" + query, field: "botCard", more: more}
	}
	require.Len(w.t, w.same(card(peer.ID.String(), "", variables{}))["posts"], 1)
	require.Empty(w.t, w.same(card(peer.ID.String(), "kind=portfolio&page=2", variables{"kind": "portfolio", "page": 2}))["posts"])
	w.refused(fault.InvalidID, card("x", "", variables{}))
	w.refused(fault.InvalidKind, card(peer.ID.String(), "kind=poem", variables{"kind": "poem"}))
	w.refused(fault.NotFound, card(uuid.NewString(), "", variables{}))
	w.Show(peer, false)
	w.refused(fault.NotFound, card(peer.ID.String(), "", variables{}))
}

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
