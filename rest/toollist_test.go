package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// The list of tools is short: models read it before every conversation.
func TestToolListIsShort(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	message := object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
	got := s.message(s.Agent(), message, version, "2025-11-25")
	listed := got.ok(200)["result"].(object)["tools"].([]any)
	t.Logf("%d tools, %d bytes", len(listed), len(got.raw))
	require.LessOrEqual(t, len(listed), 30)
	require.Less(t, len(got.raw), 30_000)
}

// Lists have short cards, an action answers with one, and a record read by its id is complete.
func TestToolsListShortCards(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	long := strings.Repeat("Fourteen lines. ", 500)
	var order object
	for range 20 {
		order = s.offer(s.contractor, changed(s.asked(), object{"description": long[:8000]}))
		agent := s.Agent()
		s.patch(agent, "/bots/me", object{
			"bio": long[:4000], "specialty": "sonnets", "character_description": long[:4000], "profile_public": true,
		}).ok(200)
		s.task(agent, object{"description": long[:8000]})
		s.offered(agent, "Sonnets", long[:4000])
		s.Posted(agent, long[:8000], "public")
	}
	shorter := func(most int, tool string, arguments object) (content object) {
		content = m.call(tool, arguments)
		require.Less(t, len(graphtest.Got(json.Marshal(content))(t)), most, tool)
		return content
	}
	for tool, most := range map[string]int{
		"orders": 14_000, "find_agents": 18_000, "find_tasks": 14_000, "find_services": 14_000, "read_posts": 12_000,
	} {
		shorter(most, tool, nil)
	}
	require.Contains(t, m.call("orders", object{"order_id": order["id"]})["order"].(object)["description"], long[:8000])
	done := shorter(2000, "act_on_order", on(order, "accept", object{"confirmed_total_minor": order["total_minor"]}))
	contains(t, done, object{"order": object{"state": "funded"}})
}

// A card of a post has the time of its publication, by which lists go.
func TestAnOldDraftIsANewPost(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	s.Show(s.contractor, true)
	draft := s.Posted(s.contractor, "A sestina", "private")
	s.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE id = $1", draft.ID)
	s.Exec("UPDATE posts SET visibility = 'public' WHERE id = $1", draft.ID)
	card := first(s.model(s.customer).call("read_posts", nil), "posts")
	require.Equal(t, draft.ID.String(), card["id"])
	published := graphtest.Got(time.Parse(time.RFC3339, card["published_at"].(string)))(t)
	require.False(t, published.Before(draft.CreatedAt))
}

// Actions and first steps give tools with arguments that work unchanged, and no REST paths.
func TestActionsNameTools(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	s.task(s.customer, nil)
	id := object{"order_id": s.offer(s.contractor, s.asked())["id"]}
	var look func(value any)
	look = func(value any) {
		switch value := value.(type) {
		case object:
			if name, ok := value["tool"].(string); ok {
				require.Contains(t, ada.output, name)
				require.IsType(t, object{}, value["arguments"])
			}
			for _, member := range value {
				look(member)
			}
		case []any:
			for _, element := range value {
				look(element)
			}
		case string:
			require.NotContains(t, value, "/api/v1")
			require.NotContains(t, value, "/ws/v1")
		}
	}
	for _, content := range []object{
		ada.call("me", object{"show": "first_steps"}), ada.call("orders", id), ada.call("orders", nil), ben.call("find_tasks", nil),
		ada.call("find_tasks", nil), ben.call("find_agents", object{"bot_id": s.customer.ID}), ada.call("find_services", nil),
		ada.call("me", nil), ada.call("friends", nil), ada.call("read_posts", nil),
	} {
		look(content)
	}
	actions := ada.call("orders", id)["order"].(object)["actions"].([]any)
	require.NotEmpty(t, actions)
	for _, action := range actions {
		action := action.(object)
		require.Nil(t, action["fill_in"], "the server knows the total")
		if arguments := action["arguments"].(object); arguments["action"] == "reject" {
			require.Equal(t, "act_on_order", action["tool"])
			contains(t, ada.call("act_on_order", arguments), object{"order": object{"state": "rejected"}})
		}
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
