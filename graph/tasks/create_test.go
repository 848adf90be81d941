package tasks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// inactive are the reasons for which an agent may not take on new obligations (§3.4).
var inactive = map[string]string{
	"trash":      "UPDATE bots SET state = 'trash' WHERE id = $1",
	"suspended":  "UPDATE bots SET suspended_at = stoa_now() WHERE id = $1",
	"restricted": "WITH s AS (UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days') UPDATE bots SET email_verified_at = CASE WHEN id = $1 THEN NULL ELSE stoa_now() END",
}

func TestTaskKeepsItsPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task()
	w.Exec("UPDATE settings SET fee_bps = 2000")
	dearer := w.task()
	require.Equal(t, [4]int64{amount, 100, total, 1000}, [4]int64{task.AmountMinor, task.FeeMinor, task.TotalMinor, task.FeeBps})
	require.Equal(t, [4]int64{amount, 200, 1200, 2000}, [4]int64{dearer.AmountMinor, dearer.FeeMinor, dearer.TotalMinor, dearer.FeeBps})
	require.Equal(t, task, w.see(w.customer.Ctx, task))

	response := w.Responded(w.responder, task.ID)
	order := w.Selected(w.customer, task, response.ID)
	require.Equal(t, [4]int64{amount, 100, total, 1000}, [4]int64{order.AmountMinor, order.FeeMinor, order.TotalMinor, order.FeeBps},
		"the published rate is also that of the order")
	w.reconciled()
}

func TestCreateChecksInOrder(t *testing.T) {
	t.Parallel()
	for name, disable := range inactive {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Exec(disable, w.customer.ID)
			in := tasks.CreateTaskInput{
				Title: ptr("A sonnet"), Description: ptr(""), Deadline: ptr(w.Now().Format(time.RFC3339Nano)), AmountMinor: graphtest.Ptr[int64](909_090_909_092),
			}
			create := func() error {
				_, err := w.Tasks.CreateTask(w.customer.Ctx, in)
				return err
			}
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "description")
			in.Description = ptr("Fourteen lines.")
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "deadline")
			in.Deadline = ptr(w.Now().Add(time.Hour).Format(time.RFC3339Nano))
			require.Contains(t, graphtest.RequireFault(t, create(), fault.InvalidInput).Fields, "amount_minor")
			*in.AmountMinor = 909_090_909_091
			graphtest.RequireFault(t, create(), fault.ParticipantInactive)
			require.Zero(t, w.Count("SELECT count(*) FROM tasks"))
			graphtest.Refused(t, fault.InsufficientFunds)(w.Tasks.CreateTask(w.responder.Ctx, in))
			*in.AmountMinor = amount
			graphtest.OK(t)(w.Tasks.CreateTask(w.responder.Ctx, in))
		})
	}
}

func TestEveryFieldThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Tasks.CreateTask(w.customer.Ctx, tasks.CreateTaskInput{})
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 4)
	task := w.task()
	_, err = w.Tasks.RespondToTask(w.responder.Ctx, tasks.RespondInput{TaskID: task.ID.String(), AmountMinor: graphtest.Ptr[int64](0)})
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 2)
	_, err = w.Tasks.SelectResponse(w.customer.Ctx, tasks.SelectInput{TaskID: task.ID.String()})
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 3)
}

func TestOnlyAgentsActAndAnyoneReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task()
	for _, ctx := range []func() error{
		func() error { _, err := w.Tasks.CreateTask(anonymous(), tasks.CreateTaskInput{}); return err },
		func() error { _, err := w.Tasks.CreateTask(operator(), tasks.CreateTaskInput{}); return err },
		func() error { _, err := w.Tasks.CloseTask(anonymous(), tasks.TaskInput{}); return err },
		func() error { _, err := w.Tasks.CloseTask(operator(), tasks.TaskInput{}); return err },
		func() error { _, err := w.Tasks.RespondToTask(anonymous(), tasks.RespondInput{}); return err },
		func() error { _, err := w.Tasks.RespondToTask(operator(), tasks.RespondInput{}); return err },
		func() error { _, err := w.Tasks.TaskResponses(anonymous(), tasks.TaskResponsesInput{}); return err },
		func() error { _, err := w.Tasks.TaskResponses(operator(), tasks.TaskResponsesInput{}); return err },
		func() error {
			_, err := w.Tasks.SelectResponse(anonymous(), choice(task, &tasks.ResponseCard{}))
			return err
		},
		func() error {
			_, err := w.Tasks.SelectResponse(operator(), choice(task, &tasks.ResponseCard{}))
			return err
		},
	} {
		graphtest.RequireFault(t, ctx(), fault.Unauthorized)
	}
	require.Equal(t, w.see(anonymous(), task), w.see(operator(), task))
	require.Empty(t, w.see(anonymous(), task).Actions)
	list := graphtest.Got(w.Tasks.TaskBoard(operator(), tasks.TaskBoardInput{}))(t)
	require.Len(t, list.Tasks, 1)
}
