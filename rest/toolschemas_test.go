package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// geminiWords are the members of Schema in the Gemini API, except the ones that need alternatives. OpenAI's strict mode accepts
// them, too, after a client adds additionalProperties everywhere and lists all properties in required.
var geminiWords = []string{"type", "description", "enum", "items", "properties", "required", "minimum", "maximum"}

// The schemas of all tools' arguments, for agents and guests, use only words that all model providers accept.
func TestEveryProviderTakesTheArguments(t *testing.T) {
	t.Parallel()
	looked := 0
	var walk func(at string, schema map[string]any)
	walk = func(at string, schema map[string]any) {
		looked++
		for word := range schema {
			require.Contains(t, geminiWords, word, at)
		}
		require.IsType(t, "", schema["type"], at)
		properties, _ := schema["properties"].(map[string]any)
		switch schema["type"] {
		case "object":
			require.Contains(t, schema, "properties", at)
		case "array":
			require.Contains(t, schema, "items", at)
			walk(at+"[]", schema["items"].(map[string]any))
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
			walk(at+"."+name, inner.(map[string]any))
		}
	}
	members, guests := sharedSite(t), ownerSite(t) // guests of the second site see all guest tools
	for _, m := range []*model{members.model(members.Agent()), guests.modelWith("")} {
		names := 0
		for tool, err := range m.session.Tools(t.Context(), nil) {
			require.NoError(t, err)
			names++
			walk(tool.Name, tool.InputSchema.(map[string]any))
		}
		require.LessOrEqual(t, names, 30)
	}
	require.Greater(t, looked, 100)
}

// The schema of an argument allows the same values as the API, and an empty value means the API's null.
func TestArgumentsSayNullWithoutNull(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	ben := s.model(s.contractor)
	var mine map[string]any
	for tool, err := range ben.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		if tool.Name == "find_tasks" {
			mine = tool.InputSchema.(map[string]any)["properties"].(map[string]any)["mine"].(map[string]any)
		}
	}
	require.Equal(t, []any{"true"}, mine["enum"], "the API has no other value")
	for _, value := range []any{true, "true"} {
		require.Empty(t, ben.call("find_tasks", map[string]any{"mine": value})["tasks"])
	}
	for _, value := range []any{false, "false", "", nil, 1} {
		require.Equal(t, "invalid_input", ben.refused("find_tasks", map[string]any{"mine": value})["error"].(map[string]any)["code"], "%v", value)
	}

	file := s.post(s.contractor.Token, uploadForm("avatar", pngOf(t, 64, 64))).ok(http.StatusCreated)["attachment"].(map[string]any)["id"]
	visuals := func(arguments map[string]any) any {
		return ben.call("update_profile", arguments)["bot"].(map[string]any)["visuals"].(map[string]any)["avatar"]
	}
	require.NotNil(t, visuals(map[string]any{"avatar_attachment_id": file, "rights_confirmed": true}))
	require.Nil(t, visuals(map[string]any{"avatar_attachment_id": ""}))
	service := ben.call("offer_service", map[string]any{"title": "Sonnets", "description": "Long.", "amount_minor": 1000})["service"].(map[string]any)
	require.EqualValues(t, 1000, service["amount_minor"])
	free := ben.call("offer_service", map[string]any{"service_id": service["id"], "amount_minor": 0})["service"].(map[string]any)
	require.NotContains(t, free, "amount_minor")
}

// Exactly the tools that commit money or cannot be undone are marked as destructive.
func TestToolsSayWhatIsFinal(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	var final []string
	for tool, err := range s.model(s.Agent()).session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		if *tool.Annotations.DestructiveHint {
			final = append(final, tool.Name)
		}
	}
	slices.Sort(final)
	require.Equal(t, []string{
		"acknowledge_events", "act_on_order", "answer_friend", "choose_answer", "offer_order", "rate_order", "take_back",
	}, final)
}

// A value of a wrong type is an error for every argument of every tool: it is never ignored, and the call does nothing.
func TestToolsRefuseWrongTypes(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	wrong := map[string][]any{
		"string": {5, true, nil, []any{"x"}, map[string]any{}}, "integer": {"5", 1.5, true, nil}, "boolean": {"true", 1, nil}, "array": {"x", 1, nil},
	}
	tried := 0
	for tool, err := range m.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		for name, schema := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			kind, _ := schema.(map[string]any)["type"].(string)
			for _, value := range wrong[kind] {
				if value == true && name == "mine" {
					continue // the API has only the word
				}
				refused := m.refused(tool.Name, map[string]any{name: value})["error"].(map[string]any)
				require.Equal(t, "invalid_input", refused["code"], "%s %s %v", tool.Name, name, value)
				require.Contains(t, refused["message"], name+" must be ", tool.Name)
				tried++
			}
		}
	}
	require.Greater(t, tried, 150)
	for tool, arguments := range map[string]map[string]any{
		"orders": {"order_id": ""}, "find_agents": {"bot_id": ""}, "read_posts": {"post_id": s.customer.ID.String(), "page": 1},
		"acknowledge_events": {"event_ids": []any{1}},
	} {
		require.Equal(t, "invalid_input", m.refused(tool, arguments)["error"].(map[string]any)["code"], tool)
	}
}

// Every argument for an agent takes a handle instead of an id, and a handle means exactly one agent.
func TestToolsTakeHandles(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	handleOf := func(card any) string { return card.(map[string]any)["handle"].(string) }
	handle := handleOf(m.call("find_agents", map[string]any{"bot_id": s.contractor.ID.String()})["bot"])
	thief := s.Agent()
	s.send("PATCH", "/api/v1/bots/me", thief.Token, map[string]any{"bio": "I am " + handle, "display_name": handle}).ok(200)

	for _, written := range []string{handle, "@" + strings.ToUpper(handle)} {
		require.Equal(t, handle, handleOf(m.call("find_agents", map[string]any{"bot_id": written})["bot"]), written)
		require.Len(t, m.call("find_agents", map[string]any{"handle": written})["bots"], 1)
	}
	order := m.call("offer_order", map[string]any{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
		"contractor_id": "@" + handle, "confirmed_total_minor": 1100,
	})["order"].(map[string]any)
	require.Equal(t, s.contractor.ID.String(), order["contractor"].(map[string]any)["id"])
	require.Empty(t, m.call("find_services", map[string]any{"bot_id": handle})["services"])
	asked := s.model(thief).call("ask_friend", map[string]any{"recipient_id": handle})["contact"].(map[string]any)
	require.Equal(t, handle, handleOf(asked["bot"]))
	require.Equal(t, "not_found", m.refused("ask_friend", map[string]any{"recipient_id": "nobody_" + handle})["error"].(map[string]any)["code"])
}

// A stored answer is marked as such, and also shows the order's current state.
func TestToolsShowThePresentBesideAStoredAnswer(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	terms := map[string]any{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
		"contractor_id": s.contractor.ID.String(), "confirmed_total_minor": 1100,
	}
	first := m.call("offer_order", terms)
	require.NotContains(t, first, "replayed")
	order := first["order"].(map[string]any)
	cancel := map[string]any{"order_id": order["id"], "action": "cancel", "expected_version": 1}
	require.NotContains(t, m.call("act_on_order", cancel), "replayed")
	for tool, arguments := range map[string]map[string]any{"offer_order": terms, "act_on_order": cancel} {
		again := m.call(tool, arguments)
		require.Equal(t, true, again["replayed"], tool)
		require.Equal(t, "cancelled", again["now"].(map[string]any)["state"], tool)
		require.Contains(t, again["now"].(map[string]any)["title"], "<untrusted ")
	}
	require.Equal(t, "offered", m.call("offer_order", terms)["order"].(map[string]any)["state"], "the answer that was given then")
}

// In all states of an order, results follow the schemas of the tools (call checks them).
func TestToolsFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	order := ben.call("offer_order", map[string]any{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
		"customer_id": s.customer.ID.String(),
	})["order"].(map[string]any)
	act := func(m *model, action string, more map[string]any) {
		order = m.call("act_on_order", changed(map[string]any{
			"order_id": order["id"], "action": action, "expected_version": order["version"],
		}, more))["order"].(map[string]any)
		for _, reader := range []*model{ada, ben} {
			detail := reader.call("orders", map[string]any{"order_id": order["id"]})
			events := detail["events"].([]any)
			require.Equal(t, action, events[len(events)-1].(map[string]any)["action"], "the server's own word is not fenced")
			reader.call("orders", nil)
			reader.call("events", map[string]any{"version": 2})
		}
	}
	act(ada, "accept", map[string]any{"confirmed_total_minor": 1100})
	act(ben, "start", nil)
	act(ben, "deliver", map[string]any{"result_text": "Shall I compare thee"})
	act(ada, "dispute", map[string]any{"reason": "It rhymes."})
	require.Equal(t, s.customer.ID.String(), order["dispute"].(map[string]any)["opened_by"])
	act(ada, "propose-refund", map[string]any{"reason": "Give it back."})
	require.Equal(t, s.customer.ID.String(), order["refund_proposal"].(map[string]any)["proposed_by"])
	act(ben, "approve-refund", nil)
	require.Equal(t, "refunded", order["outcome"])
	ada.call("rate_order", map[string]any{"order_id": order["id"], "stars": 2, "text": "Rhymes."})
	for _, reader := range []*model{ada, ben} {
		for _, name := range []string{
			"me", "find_agents", "friends", "find_tasks", "find_services", "read_posts", "orders", "wallet", "events",
		} {
			reader.call(name, nil)
		}
	}
}
