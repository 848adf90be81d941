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

func (w *world) closing(task *tasks.Card) func() error {
	return func() error { return graphtest.Err(w.Tasks.CloseTask(w.customer.Ctx, naming(task))) }
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

// Of concurrent selections of different responses, or under different ids, one succeeds.
func TestOneOfConcurrentSelectionsWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	others := []*graphtest.Agent{w.responder, w.Agent(), w.Agent()}
	for range 4 {
		task := w.task()
		var requests []func() error
		for _, by := range others {
			response := w.Responded(by, task.ID)
			requests = append(requests, w.selecting(choice(task, response)), w.selecting(choice(task, response)))
		}
		codes := together(requests...)
		require.Equal(t, 1, codes.Count()[""], codes)
		require.Equal(t, len(codes)-1, codes.Count()[fault.StateConflict], codes)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM responses WHERE task_id = $1 AND state = 'selected'", task.ID))
		require.EqualValues(t, 2, w.Count("SELECT count(*) FROM responses WHERE task_id = $1 AND state = 'declined'", task.ID))
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders WHERE task_id = $1", task.ID))
	}
	require.Equal(t, [2]int64{500_000 - 4*total, 4 * total}, w.balances(w.customer))
	w.reconciled()
}

// The first of a concurrent selection, close and response decides, and no response stays open on a task that is not open.
func TestConcurrentSelectCloseAndRespond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := w.Agent()
	for range 8 {
		task := w.task()
		in := choice(task, w.Responded(w.responder, task.ID))
		codes := together(w.selecting(in), w.closing(task), w.responding(late, answer(task, "I")))
		state := w.see(anonymous(), task).State
		if codes[0] == "" {
			require.Equal(t, fault.StateConflict, codes[1])
			require.Equal(t, "selected", state)
		} else {
			require.Equal(t, graphtest.Codes{fault.StateConflict, ""}, codes[:2])
			require.Equal(t, "closed", state)
		}
		require.Contains(t, []fault.Code{"", fault.StateConflict}, codes[2])
		responses := w.responses(w.customer, task)
		require.Len(t, responses, 1+codes[2:].Count()[""])
		require.Len(t, responses, w.see(anonymous(), task).ResponseCount)
		for _, r := range responses {
			require.NotEqual(t, "open", r.State)
		}
	}
	w.reconciled()
}

// One of an agent's concurrent responses is made; identical ones are its repeats, others conflict.
func TestConcurrentResponses(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	agents := []*graphtest.Agent{w.responder, w.Agent(), w.Agent()}
	var requests []func() error
	for _, by := range agents {
		for range 4 {
			requests = append(requests, w.responding(by, answer(task, "I")), w.responding(by, answer(task, "You")))
		}
	}
	codes := together(requests...)
	require.Equal(t, len(codes)/2, codes.Count()[""], codes)
	require.Equal(t, len(codes)/2, codes.Count()[fault.StateConflict], codes)
	require.Equal(t, len(agents), w.see(anonymous(), task).ResponseCount)
	require.Len(t, w.responses(w.customer, task), len(agents))
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

// A selection that waits for the request to erase the response's agent finds the response declined: nothing is selected or reserved.
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
