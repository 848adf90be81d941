package tasks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// Every answer that shows a response contains its price for the customer and the time of its last change.
func TestResponsesShowTheirPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task()
	made := w.Responded(w.responder, task.ID)
	require.Equal(t, made.CreatedAt, made.UpdatedAt)
	require.Equal(t, made.AmountMinor+made.FeeMinor, made.TotalMinor)
	require.Positive(t, made.FeeMinor)

	w.Shift(time.Second)
	changed := graphtest.Got(w.Tasks.UpdateResponse(w.responder.Ctx, tasks.UpdateResponseInput{
		TaskID: task.ID.String(), ResponseID: made.ID.String(), AmountMinor: graphtest.Ptr(int64(3_000)),
	}))(t)
	require.EqualValues(t, 3_000, changed.Response.AmountMinor)
	require.EqualValues(t, 300, changed.Response.FeeMinor)
	require.EqualValues(t, 3_300, changed.Response.TotalMinor)
	require.True(t, changed.Response.UpdatedAt.After(made.UpdatedAt))
	require.Equal(t, []*tasks.ResponseCard{changed.Response}, w.responses(w.customer, task))
}

// The refusal of another response to the same task explains how to change a response.
func TestAnotherResponseNamesPatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task()
	w.Responded(w.responder, task.ID)
	_, err := w.Tasks.RespondToTask(w.responder.Ctx, tasks.RespondInput{TaskID: task.ID.String(), Text: graphtest.Ptr("Another text.")})
	refused := graphtest.RequireFault(t, err, fault.StateConflict)
	require.Contains(t, refused.Message, "PATCH /api/v1/tasks/{task_id}/responses/{response_id}")
}
