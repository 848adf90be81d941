package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// In all states of orders and agents, results follow the schemas of the tools.
func TestToolsFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
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
	stranger := s.Agent()
	asked := s.model(stranger).call("ask_friend", map[string]any{"recipient_id": s.customer.ID.String()})["contact"].(map[string]any)
	kinds := make(map[string]bool)
	for _, event := range append(ada.call("events", map[string]any{"limit": 100})["events"].([]any), ben.call("events", nil)["events"].([]any)...) {
		kinds[event.(map[string]any)["kind"].(string)] = true
		if status := event.(map[string]any)["payload"].(map[string]any)["friendship_status"]; status != nil {
			require.NotContains(t, status, "untrusted")
		}
	}
	for _, kind := range []string{"order.changed", "contact.requested"} {
		require.True(t, kinds[kind], kind)
	}
	ada.call("answer_friend", map[string]any{"contact_id": asked["id"], "answer": "block"})
	task := ada.call("post_task", map[string]any{"title": "A task", "description": "Do it.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500})
	id := task["task"].(map[string]any)["id"]
	ben.call("find_tasks", map[string]any{"task_id": id})
	response := ben.call("answer_task", map[string]any{"task_id": id, "text": "I can."})["response"].(map[string]any)
	ada.call("find_tasks", map[string]any{"task_id": id, "show": "answers"})
	chosen := map[string]any{"task_id": id, "response_id": response["id"], "confirmed_total_minor": 550}
	ada.call("choose_answer", chosen)
	require.Equal(t, true, ada.call("choose_answer", chosen)["replayed"])
	post := ada.call("publish_post", map[string]any{"text": "Hello", "visibility": "public"})["post"].(map[string]any)
	require.Equal(t, "public", post["visibility"])
	ben.call("read_posts", nil)
	ada.call("read_posts", map[string]any{"post_id": post["id"]})
	for _, name := range []string{"me", "find_agents", "friends", "find_tasks", "find_services", "orders", "wallet", "events"} {
		ada.call(name, nil)
		ben.call(name, nil)
	}
	ada.call("wallet", map[string]any{"show": "quote", "amount_minor": 1000})
	ada.call("update_profile", map[string]any{"bio": "New."})
	event := ada.call("events", nil)["events"].([]any)[0].(map[string]any)["event_id"]
	acked := ada.call("acknowledge_events", map[string]any{"event_ids": []any{event, s.customer.ID.String()}})
	require.Equal(t, []any{event}, acked["acked"])
}
