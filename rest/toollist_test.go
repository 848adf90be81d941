package rest_test

import (
	"encoding/json"
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

// sizeOf returns the size of an answer's content in bytes.
func (m *model) sizeOf(content object) int {
	m.t.Helper()
	raw := graphtest.Got(json.Marshal(content))(m.t)
	return len(raw)
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
	}
	for range 20 {
		agent := s.Agent()
		s.patch(agent, "/bots/me", object{
			"bio": long[:4000], "specialty": "sonnets", "character_description": long[:4000], "profile_public": true,
		}).ok(200)
		s.post(agent, "/tasks", object{
			"title": "A sonnet", "description": long[:8000], "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
		}).ok(201)
		s.post(agent, "/services", object{"title": "Sonnets", "description": long[:4000]}).ok(201)
		s.post(agent, "/posts", object{"text": long[:8000], "visibility": "public"}).ok(201)
	}
	for tool, most := range map[string]int{
		"orders": 14_000, "find_agents": 18_000, "find_tasks": 14_000, "find_services": 14_000, "read_posts": 12_000,
	} {
		content := m.call(tool, nil)
		t.Logf("%s: %d bytes", tool, m.sizeOf(content))
		require.Less(t, m.sizeOf(content), most, tool)
	}
	whole := m.call("orders", object{"order_id": order["id"]})["order"].(object)
	require.Contains(t, whole["description"], long[:8000])
	done := m.call("act_on_order", object{
		"order_id": order["id"], "action": "accept", "expected_version": 1, "confirmed_total_minor": order["total_minor"],
	})
	t.Logf("act_on_order: %d bytes", m.sizeOf(done))
	require.Less(t, m.sizeOf(done), 2000)
	require.Equal(t, "funded", done["order"].(object)["state"])
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
	s.post(s.customer, "/tasks", object{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	}).ok(201)
	order := s.offer(s.contractor, s.asked())
	id := object{"order_id": order["id"]}
	tools := make(map[string]bool)
	for name := range ada.output {
		tools[name] = true
	}
	walk := func(value any) {
		var look func(value any)
		look = func(value any) {
			switch value := value.(type) {
			case object:
				if name, ok := value["tool"].(string); ok {
					require.True(t, tools[name], name)
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
		look(value)
	}
	for _, content := range []object{
		ada.call("me", object{"show": "first_steps"}), ada.call("orders", id), ada.call("orders", nil), ben.call("find_tasks", nil), ada.call("find_tasks", nil),
		ben.call("find_agents", object{"bot_id": s.customer.ID.String()}), ada.call("find_services", nil), ada.call("me", nil),
		ada.call("friends", nil), ada.call("read_posts", nil),
	} {
		walk(content)
	}
	actions := ada.call("orders", id)["order"].(object)["actions"].([]any)
	require.NotEmpty(t, actions)
	for _, action := range actions {
		action := action.(object)
		if arguments := action["arguments"].(object); arguments["action"] == "reject" {
			require.Equal(t, "act_on_order", action["tool"])
			require.Nil(t, action["fill_in"])
			require.Equal(t, "rejected", ada.call("act_on_order", arguments)["order"].(object)["state"])
		} else {
			require.Nil(t, action["fill_in"], "%v: the server knows the total", arguments)
		}
	}
	steps := make(object)
	for _, step := range ada.call("me", object{"show": "first_steps"})["guide"].(object)["steps"].([]any) {
		step := step.(object)
		steps[step["code"].(string)] = step["action"]
	}
	require.Equal(t, "update_profile", steps["avatar"].(object)["tool"])
	require.Equal(t, []any{"avatar_attachment_id", "rights_confirmed"}, steps["avatar"].(object)["fill_in"])
	require.Equal(t, "events", steps["event_channel"].(object)["tool"])
	require.Equal(t, "offer_service", steps["first_service"].(object)["tool"])
}

// A model sets, reads and ends its watch with the tool for the board, and learns of a new task with the tool for events.
func TestAModelWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	watch := object{"show": "my_watch"}
	ben.refused("find_tasks", watch)
	ben.refused("find_tasks", object{"show": "watch"})
	ben.refused("find_tasks", object{"show": "watch", "q": "ballad", "min_amount_minor": 0})
	set := ben.call("find_tasks", object{"show": "watch", "q": "ballad", "min_amount_minor": 400})["watch"].(object)
	require.EqualValues(t, 400, set["min_amount_minor"])
	require.Contains(t, set["q"], "ballad")
	require.EqualValues(t, 400, ben.call("find_tasks", watch)["watch"].(object)["min_amount_minor"])

	task := ada.call("post_task", object{
		"title": "A ballad", "description": "Long.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(object)
	require.NoError(t, s.Tasks.Announce(t.Context(), uuid.MustParse(task["id"].(string))))
	var told []any
	for _, one := range ben.call("events", nil)["events"].([]any) {
		if event := one.(object); event["kind"] == "task.posted" {
			told = append(told, event["payload"].(object)["task_id"])
		}
	}
	require.Equal(t, []any{task["id"]}, told)

	require.Equal(t, true, ben.call("find_tasks", object{"show": "unwatch"})["deleted"])
	ben.refused("find_tasks", watch)
}
