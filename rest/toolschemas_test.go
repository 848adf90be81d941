package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// geminiWords are the members of Schema in the Gemini API, except members that need alternatives. OpenAI's strict mode accepts
// them, too, after a client adds additionalProperties everywhere and lists all properties in required.
var geminiWords = []string{"type", "description", "enum", "items", "properties", "required", "minimum", "maximum"}

// The schemas of all tools' arguments, for agents and guests, use only words that all model providers accept. The list is short,
// since models read it before every conversation. Exactly the tools that commit money or cannot be undone are destructive.
func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	looked, final := 0, []string(nil)
	var walk func(at string, schema object)
	walk = func(at string, schema object) {
		looked++
		for word := range schema {
			require.Contains(t, geminiWords, word, at)
		}
		require.IsType(t, "", schema["type"], at)
		properties, _ := schema["properties"].(object)
		switch schema["type"] {
		case "object":
			require.Contains(t, schema, "properties", at)
		case "array":
			require.Contains(t, schema, "items", at)
			walk(at+"[]", schema["items"].(object))
		case "string", "integer", "boolean":
		default:
			require.Fail(t, "an unusual type", "%s %v", at, schema["type"])
		}
		if named, ok := schema["enum"]; ok {
			require.Equal(t, "string", schema["type"], "%s: only strings can be named", at)
			require.NotEmpty(t, named, at)
			require.NotContains(t, named, "", at)
		}
		for _, name := range as[[]any](schema["required"]) {
			require.Contains(t, properties, name, at)
		}
		for name, inner := range properties {
			walk(at+"."+name, inner.(object))
		}
	}
	members, guests := sharedSite(t), ownerSite(t) // guests of the second site see all guest tools
	for _, m := range []*model{members.model(members.Agent()), guests.modelWith("")} {
		names, size := 0, 0
		for tool, err := range m.session.Tools(t.Context(), nil) {
			require.NoError(t, err)
			names++
			size += len(graphtest.Got(json.Marshal(tool))(t))
			if *tool.Annotations.DestructiveHint {
				final = append(final, tool.Name)
			}
			walk(tool.Name, tool.InputSchema.(object))
		}
		require.LessOrEqual(t, names, 30)
		require.Less(t, size, 30_000)
	}
	require.Greater(t, looked, 100)
	require.ElementsMatch(t, []string{
		"acknowledge_events", "act_on_order", "answer_friend", "choose_answer", "offer_order", "rate_order", "take_back",
	}, final)
}

// The schema of an argument allows the same values as the API, and an empty value means the API's null.
func TestEmptyArgumentsMeanNull(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	ben := s.model(s.contractor)
	var mine object
	for tool, err := range ben.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		if tool.Name == "find_tasks" {
			mine = tool.InputSchema.(object)["properties"].(object)["mine"].(object)
		}
	}
	require.Equal(t, []any{"true"}, mine["enum"], "the API has no other value")
	for _, value := range []any{true, "true"} {
		require.Empty(t, ben.call("find_tasks", object{"mine": value})["tasks"])
	}
	for _, value := range []any{false, "false", "", nil, 1} {
		ben.refused("invalid_input", "find_tasks", object{"mine": value})
	}

	file := s.upload(s.contractor.Token, uploadForm("avatar", pngOf(t, 64, 64))).ok(201)["attachment"].(object)["id"]
	visuals := func(arguments object) any {
		return ben.call("update_profile", arguments)["bot"].(object)["visuals"].(object)["avatar"]
	}
	require.NotNil(t, visuals(object{"avatar_attachment_id": file, "rights_confirmed": true}))
	require.Nil(t, visuals(object{"avatar_attachment_id": ""}))
	service := ben.call("offer_service", object{"title": "Sonnets", "description": "Long.", "amount_minor": 1000})["service"].(object)
	require.EqualValues(t, 1000, service["amount_minor"])
	free := ben.call("offer_service", object{"service_id": service["id"], "amount_minor": 0})["service"].(object)
	require.NotContains(t, free, "amount_minor")
}

// A value of a wrong type is an error for every argument of every tool: it is never ignored, and the call does nothing.
func TestToolsRefuseWrongTypes(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	wrong := map[string][]any{
		"string": {5, true, nil, []any{"x"}, object{}}, "integer": {"5", 1.5, true, nil}, "boolean": {"true", 1, nil}, "array": {"x", 1, nil},
	}
	tried := 0
	for tool, err := range m.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		for name, schema := range tool.InputSchema.(object)["properties"].(object) {
			kind, _ := schema.(object)["type"].(string)
			for _, value := range wrong[kind] {
				if value == true && name == "mine" {
					continue // the API has only the word
				}
				refused := m.refused("invalid_input", tool.Name, object{name: value})
				require.Contains(t, refused["message"], name+" must be ", tool.Name)
				tried++
			}
		}
	}
	require.Greater(t, tried, 150)
	for tool, arguments := range map[string]object{
		"orders": {"order_id": ""}, "find_agents": {"bot_id": ""}, "read_posts": {"post_id": s.customer.ID.String(), "page": 1},
		"acknowledge_events": {"event_ids": []any{1}},
	} {
		m.refused("invalid_input", tool, arguments)
	}
}

// Every argument for an agent takes a handle instead of an id, and a handle means exactly one agent.
func TestToolsTakeHandles(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m, handle, thief := s.model(s.customer), s.handleOf(s.contractor), s.Agent()
	s.patch(thief, "/bots/me", object{"bio": "I am " + handle, "display_name": handle}).ok(200)
	for _, written := range []string{handle, "@" + strings.ToUpper(handle)} {
		contains(t, m.call("find_agents", object{"bot_id": written}), object{"bot": object{"handle": handle}})
		require.Len(t, m.call("find_agents", object{"handle": written})["bots"], 1)
	}
	contains(t, m.call("offer_order", offeredTo("@"+handle)), object{"order": object{"contractor": object{"id": s.contractor.ID}}})
	require.Empty(t, m.call("find_services", object{"bot_id": handle})["services"])
	contains(t, s.model(thief).call("ask_friend", object{"recipient_id": handle}), object{"contact": object{"bot": object{"handle": handle}}})
	m.refused("not_found", "ask_friend", object{"recipient_id": "nobody_" + handle})
}

// A stored answer is marked, and also shows the order's current state.
func TestToolsShowThePresentBesideAStoredAnswer(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m, terms := s.model(s.customer), offeredTo(s.contractor.ID)
	first := m.call("offer_order", terms)
	require.NotContains(t, first, "replayed")
	cancel := on(first["order"].(object), "cancel", nil)
	require.NotContains(t, m.call("act_on_order", cancel), "replayed")
	for tool, arguments := range map[string]object{"offer_order": terms, "act_on_order": cancel} {
		again := m.call(tool, arguments)
		contains(t, again, object{"replayed": true, "now": object{"state": "cancelled"}})
		require.Contains(t, again["now"].(object)["title"], "<untrusted ")
	}
	contains(t, m.call("offer_order", terms), object{"order": object{"state": "offered"}}) // the first answer

	ben, sent := s.model(s.contractor), object{"order_id": s.started()["id"], "action": "send", "text": "The first verse."}
	ben.call("drafts", sent)
	contains(t, ben.call("drafts", sent), object{"replayed": true, "now": nil}) // a draft does not change
}

// First steps name tools, and an order's actions lack nothing that the server knows (call refuses REST paths in any answer).
func TestActionsNameTools(t *testing.T) {
	t.Parallel()
	s, ada, _ := newTrade(t).withModels()
	for _, action := range ada.call("orders", object{"order_id": s.offer(s.contractor, s.asked())["id"]})["order"].(object)["actions"].([]any) {
		require.Nil(t, action.(object)["fill_in"], "the server knows the total")
	}
	steps := make(object)
	for _, step := range ada.call("me", object{"show": "first_steps"})["guide"].(object)["steps"].([]any) {
		steps[step.(object)["code"].(string)] = step.(object)["action"]
	}
	contains(t, steps, object{
		"avatar":        object{"tool": "update_profile", "fill_in": []string{"avatar_attachment_id", "rights_confirmed"}},
		"event_channel": object{"tool": "events"}, "first_service": object{"tool": "offer_service"},
	})
}

// A model sets, reads and ends its watch with the tool for the board, and learns of a new task with the tool for events.
func TestAModelWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	watch := object{"show": "my_watch"}
	ben.refused("not_found", "find_tasks", watch)
	ben.refused("invalid_input", "find_tasks", object{"show": "watch"})
	ben.refused("invalid_input", "find_tasks", object{"show": "watch", "q": "ballad", "min_amount_minor": 0})
	set := ben.call("find_tasks", object{"show": "watch", "q": "ballad", "min_amount_minor": 400})["watch"].(object)
	require.EqualValues(t, 400, set["min_amount_minor"])
	require.Contains(t, set["q"], "ballad")
	contains(t, ben.call("find_tasks", watch), object{"watch": object{"min_amount_minor": 400}})

	task := ada.call("post_task", job(object{"title": "A ballad"}))["task"].(object)
	require.NoError(t, s.Tasks.Announce(t.Context(), uuid.MustParse(of(task))))
	require.Equal(t, []object{{"task_id": task["id"]}}, s.told(s.contractor, "2", "task.posted"))
	require.Contains(t, fmt.Sprint(ben.call("events", nil)), "task.posted")

	contains(t, ben.call("find_tasks", object{"show": "unwatch"}), object{"deleted": true})
	ben.refused("not_found", "find_tasks", watch)
}
