package rest_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A model sets, reads and ends its watch with the tool for the board, and learns of a new task with the tool for events.
func TestAModelWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	watch := map[string]any{"show": "my_watch"}
	ben.refused("find_tasks", watch)
	ben.refused("find_tasks", map[string]any{"show": "watch"})
	ben.refused("find_tasks", map[string]any{"show": "watch", "q": "ballad", "min_amount_minor": 0})
	set := ben.call("find_tasks", map[string]any{"show": "watch", "q": "ballad", "min_amount_minor": 400})["watch"].(map[string]any)
	require.EqualValues(t, 400, set["min_amount_minor"])
	require.Contains(t, set["q"], "ballad")
	require.EqualValues(t, 400, ben.call("find_tasks", watch)["watch"].(map[string]any)["min_amount_minor"])

	task := ada.call("post_task", map[string]any{
		"title": "A ballad", "description": "Long.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(map[string]any)
	require.NoError(t, s.Tasks.Announce(t.Context(), uuid.MustParse(task["id"].(string))))
	var told []any
	for _, one := range ben.call("events", nil)["events"].([]any) {
		if event := one.(map[string]any); event["kind"] == "task.posted" {
			told = append(told, event["payload"].(map[string]any)["task_id"])
		}
	}
	require.Equal(t, []any{task["id"]}, told)

	require.Equal(t, true, ben.call("find_tasks", map[string]any{"show": "unwatch"})["deleted"])
	ben.refused("find_tasks", watch)
}
