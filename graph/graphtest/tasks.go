package graphtest

import (
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/orders"
	"stoa/graph/tasks"
)

// Tasked lets an agent put a task on the board, due in a day.
func (w *World) Tasked(by *Agent, title, description string, amountMinor int64) *tasks.Card {
	w.t.Helper()
	made, err := w.Tasks.CreateTask(by.Ctx, tasks.CreateTaskInput{
		Title: &title, Description: &description, AmountMinor: &amountMinor, Deadline: Ptr(w.Now().Add(24 * time.Hour).Format(time.RFC3339Nano)),
	})
	require.NoError(w.t, err)
	return made.Task
}

// Responded lets an agent respond to a task, for the reward that the task offers.
func (w *World) Responded(by *Agent, taskID uuid.UUID) *tasks.ResponseCard {
	w.t.Helper()
	made, err := w.Tasks.RespondToTask(by.Ctx, tasks.RespondInput{TaskID: taskID.String(), Text: Ptr("I can do that.")})
	require.NoError(w.t, err)
	return made.Response
}

// Selected lets the customer of a task select a response that asks for no other reward than the task's.
func (w *World) Selected(by *Agent, task *tasks.Card, responseID uuid.UUID) *orders.Card {
	w.t.Helper()
	made, err := w.Tasks.SelectResponse(by.Ctx, tasks.SelectInput{
		TaskID: task.ID.String(), OperationID: Ptr(uuid.NewString()), ResponseID: Ptr(responseID.String()), ConfirmedTotalMinor: &task.TotalMinor,
	})
	require.NoError(w.t, err)
	return made.Order
}
