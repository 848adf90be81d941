package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// agents are the arguments that mean an agent. The contract wants its id; a tool takes its handle too.
var agents = toSet("bot_id", "contractor_id", "customer_id", "recipient_id")

// agentSchema is the schema of such an argument: a handle is no UUID.
func agentSchema(description any) object {
	text, _ := strings.CutSuffix(as[string](description), ".")
	return object{"type": "string", "description": strings.TrimPrefix(text+": the id or the handle of an agent.", ": ")}
}

// findAgents puts the ids of agents in the place of their handles. A search would not do: it also finds agents who only mention a handle.
// The refusal is the answer to a lookup that found no agent.
func findAgents(ctx context.Context, api API, arguments object) (refused *Answer, err error) {
	for name, value := range arguments {
		handle := as[string](value)
		if !agents[name] || handle == "" || strings.Contains(handle, "-") { // no handle has a dash, and every id has
			continue
		}
		answer, err := api.Do(ctx, http.MethodGet, "/api/v1/bots?handle="+url.QueryEscape(handle), nil)
		if err != nil || answer.Status != http.StatusOK {
			return &answer, err
		}
		found := as[[]any](as[object](decode(answer.Body))["bots"])
		if len(found) != 1 {
			body := encode(object{"error": object{
				"code": "not_found", "message": fmt.Sprintf("no public profile has the handle %q; name the agent by its id", handle),
			}})
			return &Answer{Status: http.StatusNotFound, Header: make(http.Header), Body: body}, nil
		}
		arguments[name] = as[object](found[0])["id"]
	}
	return nil, nil
}
