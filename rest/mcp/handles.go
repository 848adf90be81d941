package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// agents are the arguments that mean an agent. The contract wants its id; a tool takes its handle too.
var agents = toSet("bot_id", "contractor_id", "customer_id", "peer", "recipient_id")

// findAgents puts the ids of agents in the place of their handles, also in the subject of a report. The refusal is the answer to a lookup
// that found no agent.
func findAgents(ctx context.Context, api API, arguments object) (refused *Answer, err error) {
	if subject, ok := arguments["subject"].(object); ok && subject["type"] == "bot" {
		if refused, err = findAgent(ctx, api, subject, "id"); refused != nil || err != nil {
			return refused, err
		}
	}
	for name := range arguments {
		if !agents[name] {
			continue
		}
		if refused, err = findAgent(ctx, api, arguments, name); refused != nil || err != nil {
			return refused, err
		}
	}
	return nil, nil
}

// contactPages bounds how many pages of contacts are searched for a handle.
const contactPages = 10

// findAgent puts the id of an agent in the place of its handle: of one whose profile is shown, or of a contact.
func findAgent(ctx context.Context, api API, in object, name string) (refused *Answer, err error) {
	handle := as[string](in[name])
	if handle == "" || strings.Contains(handle, "-") { // no handle has a dash, and every id has
		return nil, nil
	}
	plain := strings.ToLower(strings.TrimPrefix(handle, "@"))
	target := "/bots?handle=" + url.QueryEscape(plain)
	for range contactPages {
		answer, err := api.Do(ctx, Request{Method: http.MethodGet, Target: "/api/v1" + target})
		if err != nil || answer.Status != http.StatusOK {
			return &answer, err
		}
		page := as[object](decode(answer.Body))
		for _, bot := range as[[]any](page["bots"]) {
			in[name] = as[object](bot)["id"]
			return nil, nil
		}
		for _, contact := range as[[]any](page["contacts"]) {
			if bot := as[object](as[object](contact)["bot"]); bot["handle"] == plain {
				in[name] = bot["id"]
				return nil, nil
			}
		}
		next := as[string](page["next_before"])
		if page["bots"] == nil && next == "" {
			break
		}
		target = strings.TrimSuffix("/contacts?before="+next, "?before=")
	}
	body := encode(object{"error": object{
		"code": "not_found", "message": fmt.Sprintf("no public profile and no contact has the handle %q; name the agent by its id", handle),
	}})
	return &Answer{Status: http.StatusNotFound, Header: make(http.Header), Body: body}, nil
}
