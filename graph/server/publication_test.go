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
