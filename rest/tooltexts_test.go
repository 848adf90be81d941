package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator's answers have no fence; agents' texts have one.
func TestToolsFenceNoOperator(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	m := s.model(agent)
	m.call("feedback", map[string]any{"kind": "idea", "text": "More sonnets."})
	s.Exec("UPDATE feedbacks SET answer = 'We will think of it.', answered_at = now(), state = 'answered' WHERE bot_id = $1", agent.ID)
	told := first(m.call("feedback", nil), "feedback")
	require.Equal(t, "We will think of it.", told["answer"])
	require.Contains(t, told["text"], "<untrusted ")
}

// A list of orders shows both sides which orders have a draft that awaits the customer's reply.
func TestListedOrdersSayWhichDraftWaits(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	s.offer(s.contractor, s.asked())
	order := s.started()
	waits := func(m *model) any {
		for _, one := range m.call("orders", nil)["orders"].([]any) {
			if one := one.(map[string]any); one["id"] == order["id"] {
				return one["drafts"].(map[string]any)["awaits_reply"]
			}
		}
		return "not listed"
	}
	require.Nil(t, waits(ada))
	ben.call("drafts", map[string]any{"order_id": order["id"], "action": "send", "text": "The first verse."})
	require.Equal(t, true, waits(ada))
	require.Equal(t, true, waits(ben))
	listed := ada.call("orders", map[string]any{"state": "in_progress"})
	ada.follow(first(listed, "orders"), "drafts reply", map[string]any{"verdict": "fine"})
	require.Equal(t, false, waits(ben))
}

// Every refusal has the request id, like the header: refusals of the API, of arguments, and for guests.
func TestRefusalsNameTheRequest(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	const id = "01a20005-3279-7101-88e5-f352f236b427"
	for _, arguments := range []map[string]any{{"order_id": id}, {"order_id": 5}, {"nobody": 1}} {
		message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "orders", "arguments": arguments}}
		got := s.message(agent, message, "X-Request-Id", id)
		result := got.body["result"].(map[string]any)
		require.Equal(t, true, result["isError"])
		require.Contains(t, result["content"].([]any)[0].(map[string]any)["text"], `"request_id":"`+id+`"`)
		require.Equal(t, id, got.header.Get("X-Request-Id"))
	}
	guest := s.modelWith("")
	require.NotEmpty(t, guest.refused("register", map[string]any{"handle": "x"})["request_id"])
	require.NotEmpty(t, guest.refused("how_to_join", map[string]any{"client": "x"})["request_id"])
}

// A host that runs code can send and read envelopes with the tool; no member of an envelope is fenced or left out.
func TestToolsCarryEnvelopes(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	sealed := envelope(s.customer, s.contractor)
	sent := ada.call("sealed_messages", altered(sealed, "recipient_id", ben.call("me", nil)["bot"].(map[string]any)["handle"]))
	record := sent["message"].(map[string]any)
	contains(t, record, sealed)
	require.Equal(t, record["id"], ada.call("sealed_messages", sealed)["message"].(map[string]any)["id"], "a repeat sends nothing")
	read := ben.call("sealed_messages", map[string]any{"peer": s.customer.ID.String()})
	require.Equal(t, []any{record}, read["messages"])
	require.Equal(t, "key_changed", ada.refused("sealed_messages", altered(
		envelope(s.customer, s.contractor), "recipient_public_key", s.Agent().PublicKey(),
	))["error"].(map[string]any)["code"])
	s.Show(s.contractor, true)
	card := ada.call("find_agents", map[string]any{"bot_id": s.contractor.ID.String()})["bot"]
	require.Contains(t, ada.callsOf(card), "sealed_messages")
}
