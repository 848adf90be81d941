package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// together runs requests concurrently.
func together(requests ...func() error) graphtest.Codes {
	return graphtest.AtOnce(len(requests), func(i int) error { return requests[i]() })
}

func (w *world) selecting(in tasks.SelectInput) func() error {
	return func() error { return graphtest.Err(w.Tasks.SelectResponse(w.customer.Ctx, in)) }
}

func (w *world) responding(by *graphtest.Agent, in tasks.RespondInput) func() error {
	return func() error { return graphtest.Err(w.Tasks.RespondToTask(by.Ctx, in)) }
}

// One of several concurrent identical selections acts; the others get its body.
func TestConcurrentIdenticalSelections(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	in := choice(task, w.Responded(w.responder, task.ID))
	results := make([]*orders.OrderResult, 20)
	requests := make([]func() error, len(results))
	for i := range requests {
		requests[i] = func() error {
			var err error
			results[i], err = w.Tasks.SelectResponse(w.customer.Ctx, in)
			return err
		}
	}
	require.Equal(t, len(requests), together(requests...).Count()[""])
	acted := 0
	for _, r := range results {
		require.Equal(t, body(t, results[0]), body(t, r))
		if !r.IsRepeat() {
			acted++
		}
	}
	require.Equal(t, 1, acted)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders"))
	require.Equal(t, [2]int64{500_000 - total, total}, w.balances(w.customer))
	w.reconciled()
}

// One id cannot be used for selections of two tasks, or for a selection and an offer, not even concurrently.
func TestConcurrentSelectionsUnderOneOperationID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Befriend(w.customer, w.responder)
	for range 4 {
		one, other := w.task(), w.task()
		first, second := choice(one, w.Responded(w.responder, one.ID)), choice(other, w.Responded(w.responder, other.ID))
		second.OperationID = first.OperationID
		offer := orders.CreateInput{
			OperationID: first.OperationID, Title: ptr("A sonnet"), Description: ptr("Fourteen lines."), AmountMinor: graphtest.Ptr(amount),
			Deadline: ptr("2999-01-01T00:00:00Z"), ContractorID: ptr(w.responder.ID.String()), ConfirmedTotalMinor: graphtest.Ptr(total),
		}
		codes := together(w.selecting(first), w.selecting(second), func() error {
			return graphtest.Err(w.Orders.CreateOrder(w.customer.Ctx, offer))
		})
		require.Equal(t, 1, codes.Count()[""], codes)
		require.Equal(t, 2, codes.Count()[fault.IdempotencyConflict], codes)
	}
	w.reconciled()
}

// A request that waits for the task sees the result of the running change.
func TestChangesWaitForTheTaskLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := w.Agent()
	for change, code := range map[string]fault.Code{
		"UPDATE tasks SET state = 'closed' WHERE id = $1":         fault.StateConflict,
		"UPDATE tasks SET removed_at = stoa_now() WHERE id = $1":  fault.NotFound,
		"UPDATE tasks SET deadline = stoa_now() WHERE id = $1":    fault.DeadlinePassed,
		"UPDATE tasks SET updated_at = updated_at WHERE id = $1 ": "",
	} {
		task := w.task()
		in := choice(task, w.Responded(w.responder, task.ID))
		commit := w.Hold(change, task.ID)
		done := make(chan graphtest.Codes, 1)
		go func() { done <- together(w.responding(late, answer(task, "I"))) }()
		w.AwaitLocks(1)
		chosen := make(chan graphtest.Codes, 1)
		go func() { chosen <- together(w.selecting(in)) }()
		w.AwaitLocks(2)
		commit()
		require.Equal(t, graphtest.Codes{code}, <-done, change)
		require.Equal(t, graphtest.Codes{code}, <-chosen, change)
	}
	w.reconciled()
}

// A selection that waits for an erasure request of the response's agent finds the response declined; nothing is reserved.
func TestSelectionWaitsForALeavingAgent(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	in := choice(task, w.Responded(w.responder, task.ID))
	other := w.Responded(w.Agent(), task.ID)
	commit := w.Hold(`WITH leaving AS (UPDATE bots SET erasure_requested_at = stoa_now() WHERE id = $1 RETURNING id)
		SELECT stoa_end_publications(l.id) FROM leaving l`, w.responder.ID)
	done := make(chan graphtest.Codes, 1)
	go func() { done <- together(w.selecting(in)) }()
	w.AwaitLocks(1)
	commit()
	require.Equal(t, graphtest.Codes{fault.ParticipantInactive}, <-done)
	require.Equal(t, "open", w.see(anonymous(), task).State)
	require.Zero(t, w.Count("SELECT count(*) FROM orders"))
	require.Equal(t, [2]int64{500_000, 0}, w.balances(w.customer))
	graphtest.OK(t)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, other)))
	w.reconciled()
}
