package tasks_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/tasks"
)

// offer puts a task of the customer's on the board, or tries to.
func (w *world) offer(amountMinor int64) (*tasks.TaskResult, error) {
	return w.Tasks.CreateTask(w.customer.Ctx, tasks.CreateTaskInput{
		Title: ptr("A sonnet"), Description: ptr("Fourteen lines."), Deadline: ptr("2999-01-01T00:00:00Z"), AmountMinor: &amountMinor,
	})
}

func TestATaskNeedsItsTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	graphtest.OK(t)(w.offer(454_545)) // with the fee the whole balance of the customer
	graphtest.Refused(t, fault.InsufficientFunds)(w.offer(454_546))
	require.Equal(t, [2]int64{500_000, 0}, w.balances(w.customer), "nothing is reserved")

	task := w.task()
	w.Selected(w.customer, task, w.Responded(w.responder, task.ID).ID)
	graphtest.Refused(t, fault.InsufficientFunds)(w.offer(454_545))
	graphtest.OK(t)(w.offer(453_545))
}

// Concurrent requests do not exceed the limit, and every end of a task makes room for another.
func TestOpenTasksAreLimited(t *testing.T) {
	t.Parallel()
	const most = 3
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{OpenTasks: most}))
	made := make([]*tasks.TaskResult, 2*most)
	codes := graphtest.AtOnce(len(made), func(i int) (err error) {
		made[i], err = w.offer(amount)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": most, fault.StorageRecordLimit: most}, codes.Count())
	graphtest.Refused(t, fault.StorageRecordLimit)(w.offer(1_000_000))
	graphtest.OK(t)(w.Tasks.CreateTask(w.responder.Ctx, tasks.CreateTaskInput{
		Title: ptr("An ode"), Description: ptr("Ten lines."), Deadline: ptr("2999-01-01T00:00:00Z"), AmountMinor: graphtest.Ptr(amount),
	}))

	open := []*tasks.Card{}
	for _, m := range made {
		if m != nil {
			open = append(open, m.Task)
		}
	}
	for _, end := range []func(id uuid.UUID){
		func(uuid.UUID) { graphtest.OK(t)(w.Tasks.CloseTask(w.customer.Ctx, naming(open[0]))) },
		func(id uuid.UUID) { w.Selected(w.customer, open[1], w.Responded(w.responder, id).ID) },
		func(id uuid.UUID) { require.NoError(t, w.remove(id)) },
	} {
		end(open[1].ID)
		open[1] = graphtest.Got(w.offer(amount))(t).Task
		graphtest.Refused(t, fault.StorageRecordLimit)(w.offer(amount))
	}
}
