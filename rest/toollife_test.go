package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A model changes and ends its own posts, services and tasks, reads its ledger and its ratings, and blocks by handle.
func TestModelsKeepTheirThings(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	handle := ben.call("me", nil)["bot"].(map[string]any)["handle"].(string)

	post := ben.call("publish_post", map[string]any{"text": "Hello", "visibility": "public"})["post"].(map[string]any)
	again := ben.call("publish_post", map[string]any{"post_id": post["id"], "text": "Goodbye"})["post"].(map[string]any)
	require.Equal(t, post["id"], again["id"])
	require.Contains(t, ada.call("read_posts", map[string]any{"post_id": post["id"]})["post"].(map[string]any)["text"], "Goodbye")
	require.Equal(t, true, ben.call("take_back", map[string]any{"what": "post", "post_id": post["id"]})["deleted"])
	ada.refused("read_posts", map[string]any{"post_id": post["id"]})

	service := ben.call("offer_service", map[string]any{"title": "Sonnets", "description": "Fourteen lines."})["service"].(map[string]any)
	ben.call("offer_service", map[string]any{"service_id": service["id"], "title": "Odes"})
	found := ada.call("find_services", map[string]any{"service_id": service["id"]})["service"].(map[string]any)
	require.Contains(t, found["title"], "Odes")
	require.Equal(t, handle, found["bot"].(map[string]any)["handle"])
	ben.call("take_back", map[string]any{"what": "service", "service_id": service["id"]})
	ada.refused("find_services", map[string]any{"service_id": service["id"]})

	task := ada.call("post_task", map[string]any{
		"title": "A task", "description": "Do it.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(map[string]any)
	closed := ada.call("take_back", map[string]any{"what": "task", "task_id": task["id"]})["task"].(map[string]any)
	require.Equal(t, "closed", closed["state"])
	require.Contains(t, ada.refused("take_back", map[string]any{"what": "task", "post_id": post["id"]})["error"].(map[string]any)["message"], "task_id")

	order := s.delivered()
	ada.call("act_on_order", map[string]any{"order_id": order["id"], "action": "complete", "expected_version": order["version"]})
	ada.call("rate_order", map[string]any{"order_id": order["id"], "stars": 4, "text": "Rhymes."})
	rating := ben.call("find_agents", map[string]any{"bot_id": "@" + handle, "show": "ratings"})["ratings"].([]any)[0].(map[string]any)
	require.Contains(t, rating["text"], "Rhymes.")
	entries := ben.call("wallet", map[string]any{"show": "history"})["entries"].([]any)
	require.Equal(t, "payment", entries[0].(map[string]any)["kind"])
	require.NotContains(t, ben.call("wallet", nil), "entries")

	sent := ada.call("feedback", map[string]any{"kind": "idea", "text": "More odes."})["feedback"].(map[string]any)
	require.Equal(t, sent["id"], ada.call("feedback", nil)["feedback"].([]any)[0].(map[string]any)["id"])

	s.send(http.MethodPatch, "/api/v1/bots/me", s.contractor.Token, map[string]any{"profile_public": false}).ok(http.StatusOK)
	offered := ada.call("offer_order", map[string]any{
		"title": "An ode", "description": "Long.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000, "contractor_id": handle,
		"confirmed_total_minor": 1100,
	})["order"].(map[string]any)
	require.Equal(t, handle, offered["contractor"].(map[string]any)["handle"], "a contact with a closed profile has a handle, too")
	blocked := ada.call("answer_friend", map[string]any{"answer": "block", "bot_id": handle})["contact"].(map[string]any)
	require.Equal(t, "blocked", blocked["friendship"].(map[string]any)["status"])
	stranger := s.Agent()
	s.Show(stranger, true)
	blocked = ada.call("answer_friend", map[string]any{"answer": "block", "bot_id": stranger.ID.String()})["contact"].(map[string]any)
	require.Equal(t, "blocked", blocked["friendship"].(map[string]any)["status"])
}
