package tasks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// At first every check fails; the faults are removed one by one.
func TestUpdateResponseChecksInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, outsider := w.Agent(), w.Agent()
	task := w.task()
	response := w.Responded(w.responder, task.ID)
	w.Responded(other, task.ID)
	w.Exec("UPDATE tasks SET state = 'closed', deadline = stoa_now(), removed_at = stoa_now()")
	w.blocked(w.customer, w.responder)
	in := tasks.UpdateResponseInput{TaskID: "x", ResponseID: "x"}
	update := func(by *graphtest.Agent) error { return graphtest.Err(w.Tasks.UpdateResponse(by.Ctx, in)) }
	require.Contains(t, graphtest.RequireFault(t, update(w.responder), fault.InvalidID).Fields, "task_id")
	in.TaskID = task.ID.String()
	require.Contains(t, graphtest.RequireFault(t, update(w.responder), fault.InvalidID).Fields, "response_id")
	in.ResponseID = uuid.NewString()
	graphtest.RequireFault(t, update(w.responder), fault.InvalidInput)
	in.Text, in.AmountMinor = ptr(""), graphtest.Ptr[int64](0)
	require.Len(t, graphtest.RequireFault(t, update(w.responder), fault.InvalidInput).Fields, 2)
	in.Text, in.AmountMinor = ptr("You"), graphtest.Ptr[int64](909_090_909_092)
	graphtest.RequireFault(t, update(w.responder), fault.NotFound)
	in.ResponseID = response.ID.String()
	graphtest.RequireFault(t, update(w.responder), fault.NotFound)
	w.Exec("UPDATE tasks SET removed_at = NULL")
	for _, by := range []*graphtest.Agent{other, outsider} {
		graphtest.RequireFault(t, update(by), fault.NotFound)
	}
	graphtest.RequireFault(t, update(w.customer), fault.Forbidden)
	graphtest.RequireFault(t, update(w.responder), fault.ContactBlocked)
	w.Exec("DELETE FROM contacts")
	require.Contains(t, graphtest.RequireFault(t, update(w.responder), fault.InvalidInput).Fields, "amount_minor")
	in.AmountMinor = graphtest.Ptr[int64](2000)
	graphtest.RequireFault(t, update(w.responder), fault.StateConflict)
	w.Exec("UPDATE tasks SET state = 'open'")
	w.Exec("UPDATE responses SET state = 'declined'")
	graphtest.RequireFault(t, update(w.responder), fault.StateConflict)
	w.Exec("UPDATE responses SET state = 'open'")
	graphtest.RequireFault(t, update(w.responder), fault.DeadlinePassed)
	unchanged := w.responses(w.responder, task)[0]
	response.UpdatedAt = unchanged.UpdatedAt // the block ended it
	require.Equal(t, response, unchanged)
	w.Exec("UPDATE tasks SET deadline = $1", w.Now().Add(time.Hour))
	require.NoError(t, update(w.responder))
}

// A change keeps the fields that are not sent, and a selection pays the current reward of the response.
func TestUpdatedResponse(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	response := w.Responded(w.responder, task.ID)
	require.Equal(t, response.CreatedAt, response.UpdatedAt)
	before := w.see(w.customer.Ctx, task)
	w.Shift(time.Minute)
	changed := graphtest.Got(w.Tasks.UpdateResponse(w.responder.Ctx, changing(response, "You")))(t)
	require.True(t, changed.Response.UpdatedAt.After(response.UpdatedAt))
	response.Text, response.UpdatedAt = "You", changed.Response.UpdatedAt
	require.Equal(t, response, changed.Response)
	in := changing(response, "")
	in.Text, in.AmountMinor = nil, graphtest.Ptr[int64](2000)
	changed = graphtest.Got(w.Tasks.UpdateResponse(w.responder.Ctx, in))(t)
	response.AmountMinor, response.FeeMinor, response.TotalMinor = 2000, 200, 2200
	response.UpdatedAt = changed.Response.UpdatedAt
	require.Equal(t, response, changed.Response)
	require.Equal(t, []*tasks.ResponseCard{response}, w.responses(w.customer, task))
	require.Equal(t, before, w.see(w.customer.Ctx, task), "the task itself has not changed")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM responses WHERE updated_at > created_at"))

	graphtest.Refused(t, fault.StateConflict)(w.Tasks.RespondToTask(w.responder.Ctx, answer(task, "You")))
	chosen := choice(task, response)
	graphtest.Refused(t, fault.PriceChanged)(w.Tasks.SelectResponse(w.customer.Ctx, chosen))
	chosen.ConfirmedTotalMinor = graphtest.Ptr[int64](2200)
	require.EqualValues(t, 2000, graphtest.Got(w.Tasks.SelectResponse(w.customer.Ctx, chosen))(t).Order.AmountMinor)
	graphtest.Refused(t, fault.StateConflict)(w.Tasks.UpdateResponse(w.responder.Ctx, in))
	w.reconciled()
}

// A withdrawn response does not count, the customer does not see it, and its author may respond again if a new one is possible.
func TestWithdrawnResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, outsider := w.Agent(), w.Agent()
	task := w.task()
	mine, theirs := w.Responded(w.responder, task.ID), w.Responded(other, task.ID)
	withdraw := func(by *graphtest.Agent) (*tasks.ResponseResult, error) {
		return w.Tasks.WithdrawResponse(by.Ctx, namingResponse(mine))
	}
	for by, code := range map[*graphtest.Agent]fault.Code{w.customer: fault.Forbidden, other: fault.NotFound, outsider: fault.NotFound} {
		graphtest.Refused(t, code)(withdraw(by))
	}
	w.Exec("UPDATE tasks SET deadline = stoa_now()")
	gone := graphtest.Got(withdraw(w.responder))(t).Response
	require.True(t, gone.UpdatedAt.After(mine.UpdatedAt))
	mine.State, mine.UpdatedAt = "withdrawn", gone.UpdatedAt
	require.Equal(t, mine, gone)
	seen := w.see(anonymous(), task)
	require.Equal(t, 1, seen.ResponseCount)
	require.True(t, seen.UpdatedAt.After(task.UpdatedAt))
	require.Equal(t, []*tasks.ResponseCard{theirs}, w.responses(w.customer, task))
	require.Equal(t, []*tasks.ResponseCard{mine}, w.responses(w.responder, task))
	for by, code := range map[*graphtest.Agent]fault.Code{w.customer: fault.NotFound, w.responder: fault.StateConflict} {
		graphtest.Refused(t, code)(withdraw(by))
		graphtest.Refused(t, code)(w.Tasks.UpdateResponse(by.Ctx, changing(mine, "You")))
	}
	graphtest.Refused(t, fault.DeadlinePassed)(w.Tasks.RespondToTask(w.responder.Ctx, answer(task, "I")))
	w.Exec("UPDATE tasks SET deadline = stoa_now() + interval '1 hour'")
	graphtest.Refused(t, fault.NotFound)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, mine)))

	require.Equal(t, []string{"respond"}, names(w.see(w.responder.Ctx, task)))
	again := w.Responded(w.responder, task.ID)
	require.NotEqual(t, mine.ID, again.ID)
	require.Equal(t, 2, w.see(anonymous(), task).ResponseCount)
	require.Equal(t, []*tasks.ResponseCard{again, mine}, w.byState(w.responses(w.responder, task)))
	require.Len(t, w.responses(w.customer, task), 2)
	w.Selected(w.customer, task, again.ID)
	require.Equal(t, []string{"selected selected", "selected withdrawn"}, sorted(w.ownStates(w.responder)))
	require.Len(t, w.payloads(w.customer, "task.responded"), 3)
	w.reconciled()
}

// byState sorts responses, the withdrawn ones last.
func (w *world) byState(all []*tasks.ResponseCard) []*tasks.ResponseCard {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *tasks.ResponseCard) int {
		return slices.Index([]string{"open", "selected", "declined", "withdrawn"}, a.State) -
			slices.Index([]string{"open", "selected", "declined", "withdrawn"}, b.State)
	})
}

func sorted(all []string) []string { return slices.Sorted(slices.Values(all)) }
