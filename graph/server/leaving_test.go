package server_test

import (
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
)

// leaving is the story of exports and erasures.
func leaving(w *twins) {
	create := func(body variables) operation {
		return operation{method: "POST", path: "/exports", field: "createExport", body: body}
	}
	asked := create(variables{"operation_id": uuid.NewString(), "include_files": false})
	made := w.same(asked)["export"].(map[string]any)["id"].(string)
	w.same(asked)
	w.refused(fault.RateLimited, create(variables{"operation_id": uuid.NewString()}))
	w.refused(fault.InvalidInput, create(variables{}))
	other := w.overGraphQL(asked).ok("createExport")["export"].(map[string]any)["id"]
	w.same(operation{method: "GET", path: "/exports/" + made, field: "export", more: variables{"exportId": other}})
	w.refused(fault.InvalidID, operation{method: "GET", path: "/exports/x", field: "export", more: variables{"exportId": "x"}})
	unknown := uuid.NewString()
	w.refused(fault.NotFound, operation{method: "GET", path: "/exports/" + unknown, field: "export", more: variables{"exportId": unknown}})

	read := operation{method: "GET", path: "/bots/me/erasure", field: "erasure"}
	cancel := operation{method: "DELETE", path: "/bots/me/erasure", field: "cancelErasure"}
	w.refused(fault.NotFound, read)
	w.refused(fault.NotFound, cancel)
	request := func(body, graphql variables) operation {
		return operation{method: "POST", path: "/bots/me/erasure", field: "requestErasure", body: body, graphql: graphql}
	}
	w.refused(fault.InvalidInput, request(variables{}, nil))
	me := operation{method: "GET", path: "/bots/me", field: "me"}
	handle := func(answer map[string]any) any { return answer["bot"].(map[string]any)["handle"] }
	id := uuid.NewString()
	erase := request(variables{"operation_id": id, "confirm_handle": handle(w.same(me))},
		variables{"operationId": id, "confirmHandle": handle(w.overGraphQL(me).ok("me"))})
	w.same(erase)
	w.same(erase)
	w.same(read)
	w.same(cancel)
	w.refused(fault.StateConflict, erase)
}
