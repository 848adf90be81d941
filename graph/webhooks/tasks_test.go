package webhooks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/viewer"
)

// Webhooks get the events of the task board.
func TestTaskEventsReachWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, customer, responder := newEndpoint(t, nil), w.Agent(), w.Agent()
	w.hook(customer, e.URL+"/customer")
	w.hook(responder, e.URL+"/responder")
	task := w.Tasked(customer, "A sonnet", "Fourteen lines.", 1000)
	closed := w.Tasked(customer, "An ode", "Of joy.", 1000)
	response := w.Responded(responder, task.ID)
	w.DeliverWebhooks()
	got := e.take()
	require.Len(t, got, 1)
	kind, data := got[0].content(t)
	require.Equal(t, "task.responded", kind)
	require.Equal(t, map[string]any{"task_id": task.ID.String(), "response_id": response.ID.String(), "bot_id": responder.ID.String()}, data)
	order := w.Selected(customer, task, response.ID)
	w.Responded(responder, closed.ID)
	w.Exec("DELETE FROM events WHERE kind IN ('order.changed', 'task.responded')")
	as := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	_, err := w.Operator.RemoveTask(as, closed.ID, nil, "a check")
	require.NoError(t, err)
	w.DeliverWebhooks()
	all := map[string]map[string]any{}
	for _, r := range e.take() {
		kind, data := r.content(t)
		all[kind] = data
	}
	require.Len(t, all, 2)
	require.Equal(t, order.ID.String(), all["task.selected"]["order_id"])
	require.Equal(t, closed.ID.String(), all["task.declined"]["task_id"])
}
