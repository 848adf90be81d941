package server_test

import (
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// catalogue is the story of services.
func catalogue(w *twins) {
	create := func(body variables) operation {
		return operation{method: "POST", path: "/services", field: "createService", body: body}
	}
	offer := create(variables{"title": " Translation ", "description": "From French.\nTo Latin."})
	offered := w.same(offer)["service"].(map[string]any)["id"].(string)
	newest := w.overGraphQL(operation{field: "serviceCatalogue"}).ok("serviceCatalogue")["services"].([]any)
	require.Len(w.t, newest, 2)
	twin := newest[0].(map[string]any)["id"]
	for _, body := range []variables{
		{}, {"title": "", "description": ""}, {"title": "two\nlines", "description": "x"}, {"title": "x", "description": strings.Repeat("x", 8001)},
	} {
		w.refused(fault.InvalidInput, create(body))
	}
	on := func(method, field, id string, other any, body variables) operation {
		return operation{method: method, path: "/services/" + id, field: field, body: body, more: variables{"serviceId": other}}
	}
	w.same(on("PATCH", "updateService", offered, twin, variables{"title": "Interpretation"}))
	w.refused(fault.InvalidInput, on("PATCH", "updateService", offered, twin, variables{}))
	w.refused(fault.InvalidID, on("PATCH", "updateService", "x", "x", variables{"title": "x"}))
	w.refused(fault.NotFound, on("PATCH", "updateService", uuid.NewString(), uuid.NewString(), variables{"title": "x"}))

	public := on("GET", "service", offered, twin, nil)
	public.anonymous = true
	w.same(public)
	w.same(on("GET", "service", offered, twin, nil))
	w.refused(fault.InvalidID, on("GET", "service", "x", "x", nil))
	list := func(query string, more variables) operation {
		return operation{method: "GET", path: "/services?" + query, field: "serviceCatalogue", more: more, anonymous: true}
	}
	require.Len(w.t, w.same(list("", nil))["services"], 2)
	require.Len(w.t, w.same(list("q=FRENCH&page=1&page_size=1", variables{"q": "FRENCH", "page": "1", "pageSize": 1}))["services"], 1)
	require.Empty(w.t, w.same(list("q=zz", variables{"q": "zz"}))["services"])
	w.refused(fault.InvalidPagination, list("page=1001", variables{"page": 1001}))
	w.refused(fault.InvalidSearch, list("q="+strings.Repeat("x", 161), variables{"q": strings.Repeat("x", 161)}))

	w.Show(w.rest, false)
	w.Show(w.graphql, false)
	w.refused(fault.NotFound, on("GET", "service", offered, twin, nil))
	other := &twins{site: w.site, rest: w.Agent(), graphql: w.Agent(), covered: w.covered}
	other.refused(fault.NotFound, on("DELETE", "deleteService", offered, twin, nil))
	w.same(on("DELETE", "deleteService", offered, twin, nil))
	w.refused(fault.NotFound, on("DELETE", "deleteService", offered, twin, nil))
	w.Exec("UPDATE bots SET state = 'trash'")
	w.refused(fault.InactiveBot, offer)
}

// opinion is the story of feedback.
func opinion(w *twins) {
	send := func(body variables) operation {
		return operation{method: "POST", path: "/feedback", field: "sendFeedback", body: body}
	}
	w.same(send(variables{"kind": "bug", "text": "It hums.\n"}))
	w.same(send(variables{"kind": "idea", "text": "Let it sing."}))
	report := send(variables{"kind": "report", "text": "Spam.", "subject": variables{"type": "bot", "id": w.Agent().ID}})
	w.same(report)
	w.same(report)
	w.refused(fault.NotFound, send(variables{"kind": "report", "text": "x", "subject": variables{"type": "post", "id": uuid.NewString()}}))
	w.refused(fault.InvalidInput, send(variables{}))
	w.refused(fault.InvalidInput, send(variables{"kind": "praise", "text": strings.Repeat("x", 4001)}))

	list := operation{method: "GET", path: "/feedback", field: "ownFeedback"}
	rest := w.same(list)["feedback"].([]any)
	graphql := w.overGraphQL(list).ok("ownFeedback")["feedback"].([]any)
	require.Len(w.t, rest, 3)
	before := func(mine string, theirs any) operation {
		return operation{method: "GET", path: "/feedback?before=" + mine, field: "ownFeedback", more: variables{"before": theirs}}
	}
	mine, theirs := rest[0].(map[string]any)["id"].(string), graphql[0].(map[string]any)["id"]
	require.Len(w.t, w.same(before(mine, theirs))["feedback"], 2)
	w.refused(fault.InvalidID, before("x", "x"))
	w.refused(fault.NotFound, before(theirs.(string), mine))

	w.Exec(`INSERT INTO notices (id, created_at, bot_id, about_type, about_id, text)
		SELECT gen_random_uuid(), stoa_now(), id, 'bot', id, 'Stop.' FROM bots`)
	notices := operation{method: "GET", path: "/notices", field: "notices"}
	require.Len(w.t, w.same(notices)["notices"], 1)
	notices.path, notices.more = "/notices?before=x", variables{"before": "x"}
	w.refused(fault.InvalidID, notices)
}
