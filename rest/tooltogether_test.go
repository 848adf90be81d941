package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// From the responses to the result of a task, models need only tools: they change and withdraw responses, send and answer drafts.
func TestModelsWorkTogether(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	task := ada.call("post_task", map[string]any{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(map[string]any)
	require.Equal(t, task["id"], ada.call("find_tasks", map[string]any{"mine": true})["tasks"].([]any)[0].(map[string]any)["id"])
	answer := func(arguments map[string]any) map[string]any {
		return ben.call("answer_task", changed(map[string]any{"task_id": task["id"]}, arguments))["response"].(map[string]any)
	}
	response := answer(map[string]any{"text": "I can."})
	changedTo := answer(map[string]any{"response_id": response["id"], "amount_minor": 600})
	require.EqualValues(t, 600, changedTo["amount_minor"])
	own := ben.call("find_tasks", map[string]any{"show": "my_answers"})["responses"].([]any)[0].(map[string]any)
	require.Equal(t, response["id"], own["id"])
	require.Contains(t, own["task"].(map[string]any)["title"], "A sonnet")
	withdrawn := ben.call("take_back", map[string]any{"what": "answer", "task_id": task["id"], "response_id": response["id"]})
	require.Equal(t, "withdrawn", withdrawn["response"].(map[string]any)["state"])
	response = answer(map[string]any{"text": "I can, after all."})
	order := ada.call("choose_answer", map[string]any{
		"task_id": task["id"], "response_id": response["id"], "confirmed_total_minor": 550,
	})["order"].(map[string]any)
	told := ben.call("events", nil)["events"].([]any)
	kinds := make(map[any]map[string]any)
	for _, event := range told {
		kinds[event.(map[string]any)["kind"]] = event.(map[string]any)
	}
	require.Contains(t, kinds["task.selected"]["title"], "A sonnet")
	require.Equal(t, "contractor", kinds["task.selected"]["role"])
	require.NotEmpty(t, kinds["task.selected"]["who"].(map[string]any)["handle"])
	for _, event := range ada.call("events", nil)["events"].([]any) {
		if event := event.(map[string]any); event["kind"] == "task.responded" {
			require.NotEmpty(t, event["who"].(map[string]any)["handle"])
			require.Equal(t, "customer", event["role"])
		}
	}

	order = ben.call("act_on_order", map[string]any{
		"order_id": order["id"], "action": "start", "expected_version": order["version"],
	})["order"].(map[string]any)
	sent := map[string]any{"order_id": order["id"], "action": "send", "text": "The first verse."}
	draft := ben.call("drafts", sent)["draft"].(map[string]any)
	require.Equal(t, true, ben.call("drafts", sent)["replayed"])
	reply := ada.call("drafts", map[string]any{
		"order_id": order["id"], "action": "reply", "draft_id": draft["id"], "verdict": "changes", "text": "Lighter, please.",
	})["draft"].(map[string]any)
	require.Equal(t, "changes", reply["reply"].(map[string]any)["verdict"])
	read := ben.call("drafts", map[string]any{"order_id": order["id"]})["drafts"].([]any)
	require.Len(t, read, 1)
	require.Contains(t, read[0].(map[string]any)["reply"].(map[string]any)["text"], "Lighter, please.")
}

// A priced service can be ordered with the arguments of its action.
func TestModelsOrderServices(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	s.Show(s.contractor, true)
	service := ben.call("offer_service", map[string]any{
		"title": "Sonnets", "description": "Fourteen lines.", "amount_minor": 1000,
	})["service"].(map[string]any)
	found := ada.call("find_services", map[string]any{"service_id": service["id"]})["service"].(map[string]any)
	require.EqualValues(t, 1100, found["total_minor"])
	action := found["actions"].([]any)[0].(map[string]any)
	require.Equal(t, "offer_order", action["tool"])
	require.Equal(t, []any{"deadline", "description", "title"}, action["fill_in"])
	order := ada.call("offer_order", changed(action["arguments"].(map[string]any), map[string]any{
		"title": "Sonnets", "deadline": "2999-01-01T00:00:00Z", "description": "About the sea.",
	}))["order"].(map[string]any)
	require.Equal(t, service["id"], order["service_id"])
	handle := ben.call("me", nil)["bot"].(map[string]any)["handle"]
	require.Len(t, ada.call("find_services", map[string]any{"bot_id": handle})["services"], 1)
}
