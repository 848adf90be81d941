package tasks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
	"stoa/graph/tasks"
)

func TestSelectChecksInOrder(t *testing.T) {
	t.Parallel()
	for name, disable := range inactive {
		for _, who := range []string{"customer", "responder"} {
			t.Run(name+" "+who, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				dear := w.Tasked(w.customer, "An epic", "In twelve books.", 454_545)
				asked := answer(dear, "For more than that.")
				asked.AmountMinor = graphtest.Ptr[int64](454_546)
				response := graphtest.Got(w.Tasks.RespondToTask(w.responder.Ctx, asked))(t).Response
				in := choice(dear, response)
				in.TaskID, in.ConfirmedTotalMinor, in.ResponseID = "x", nil, ptr(uuid.NewString())
				choose := func(by *graphtest.Agent) error { return graphtest.Err(w.Tasks.SelectResponse(by.Ctx, in)) }
				// At first every check fails; the faults are removed one by one.
				w.Exec(disable, map[string]uuid.UUID{"customer": w.customer.ID, "responder": w.responder.ID}[who])
				w.Exec("UPDATE tasks SET state = 'closed', deadline = stoa_now(), removed_at = stoa_now()")
				graphtest.RequireFault(t, choose(w.responder), fault.InvalidID)
				in.TaskID = dear.ID.String()
				graphtest.RequireFault(t, choose(w.responder), fault.InvalidInput)
				in.ConfirmedTotalMinor = graphtest.Ptr[int64](1)
				graphtest.RequireFault(t, choose(w.customer), fault.NotFound)
				w.Exec("UPDATE tasks SET removed_at = NULL")
				graphtest.RequireFault(t, choose(w.responder), fault.NotFound)
				graphtest.RequireFault(t, choose(w.customer), fault.NotFound)
				in.ResponseID = ptr(response.ID.String())
				graphtest.RequireFault(t, choose(w.responder), fault.NotFound)
				graphtest.RequireFault(t, choose(w.customer), fault.StateConflict)
				w.Exec("UPDATE tasks SET state = 'open'")
				graphtest.RequireFault(t, choose(w.customer), fault.ParticipantInactive)
				w.Exec("UPDATE bots SET state = 'active', suspended_at = NULL, email_verified_at = stoa_now()")
				graphtest.RequireFault(t, choose(w.customer), fault.DeadlinePassed)
				w.Exec("UPDATE tasks SET deadline = $1", w.Now().Add(time.Hour))
				w.Exec("UPDATE responses SET state = 'declined'")
				graphtest.RequireFault(t, choose(w.customer), fault.StateConflict)
				w.Exec("UPDATE responses SET state = 'open'")
				graphtest.RequireFault(t, choose(w.customer), fault.PriceChanged)
				in.ConfirmedTotalMinor = graphtest.Ptr[int64](500_001)
				graphtest.RequireFault(t, choose(w.customer), fault.InsufficientFunds)
				require.Zero(t, w.Count("SELECT count(*) FROM orders"))
				require.Zero(t, w.Count("SELECT count(*) FROM operations"))
				require.Zero(t, w.Count("SELECT count(*) FROM events WHERE kind <> 'task.responded'"))
				require.Equal(t, "open", w.see(anonymous(), dear).State)
				w.Exec("UPDATE responses SET amount_minor = 454545")
				*in.ConfirmedTotalMinor = 500_000
				require.NoError(t, choose(w.customer))
				require.Equal(t, [2]int64{0, 500_000}, w.balances(w.customer))
				w.reconciled()
			})
		}
	}
}

// A selection reserves the total, notifies both agents, and leaves an order like any other.
func TestSelectionIsAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, other := w.task(), w.Agent()
	mine, theirs := w.Responded(w.responder, task.ID), w.Responded(other, task.ID)
	in := choice(task, mine)
	order := graphtest.Got(w.Tasks.SelectResponse(w.customer.Ctx, in))(t).Order
	require.Equal(t, [2]int64{500_000 - total, total}, w.balances(w.customer))
	require.Equal(t, [2]int64{500_000, 0}, w.balances(w.responder))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'reserve' AND order_id = $1 AND operation_id = $2", order.ID, *in.OperationID))
	require.Equal(t, &task.ID, order.TaskID)
	require.Equal(t, order.CreatedAt, *order.FundedAt)
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM events WHERE kind = 'order.changed'"))
	for _, recipient := range []*graphtest.Agent{w.customer, w.responder} {
		require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM events WHERE recipient_id = $1 AND convert_from(payload, 'UTF8') = $2`,
			recipient.ID, fmt.Sprintf(
				`{"order_id":"%s","status":"funded","version":1,"action":"select","actor_id":"%s"}`, order.ID, w.customer.ID)))
	}
	detail := graphtest.Got(w.Orders.Order(w.customer.Ctx, orders.OrderInput{OrderID: order.ID.String()}))(t)
	require.Equal(t, []*orders.Event{
		{Action: "select", ParticipantID: w.customer.ID, State: "funded", Version: 1, CreatedAt: order.CreatedAt},
	}, detail.Events)
	require.Equal(t, order, detail.Order)

	seen := w.see(w.customer.Ctx, task)
	require.Equal(t, "selected", seen.State)
	require.Equal(t, order.CreatedAt, seen.UpdatedAt)
	require.Equal(t, &order.ID, seen.OrderID())
	require.Equal(t, &order.ID, w.see(w.responder.Ctx, task).OrderID())
	require.Nil(t, w.see(other.Ctx, task).OrderID())
	require.Nil(t, w.see(anonymous(), task).OrderID())
	mine.State, theirs.State, mine.UpdatedAt, theirs.UpdatedAt = "selected", "declined", order.CreatedAt, order.CreatedAt
	require.Equal(t, []*tasks.ResponseCard{theirs, mine}, w.responses(w.customer, task))

	// They are still strangers, but the order goes on, even without the task.
	order = w.act(w.responder, order, orders.Start)
	require.NoError(t, w.remove(task.ID))
	order = w.act(w.responder, order, orders.Deliver)
	order = w.act(w.customer, order, orders.Complete)
	require.Equal(t, 4, order.Version)
	require.Equal(t, &task.ID, order.TaskID)
	require.Equal(t, [2]int64{500_000 - total, 0}, w.balances(w.customer))
	require.Equal(t, [2]int64{500_000 + amount, 0}, w.balances(w.responder))
	w.reconciled()
}

// body is an answer as it is sent.
func body(t *testing.T, answer *orders.OrderResult) string {
	t.Helper()
	return string(graphtest.Got(wire.Marshal(answer))(t))
}

// A repeat gets the exact earlier body, even if the order, the task or the agents have changed.
func TestRepeatedSelection(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	response := w.Responded(w.responder, task.ID)
	in := choice(task, response)
	made := graphtest.Got(w.Tasks.SelectResponse(w.customer.Ctx, in))(t)
	require.False(t, made.IsRepeat())
	w.act(w.responder, made.Order, orders.Start)
	w.Shift(100 * 24 * time.Hour)
	w.Exec("UPDATE bots SET state = 'trash'")
	require.NoError(t, w.remove(task.ID))
	entries := w.Count("SELECT count(*) FROM ledger_entries")
	again := graphtest.Got(w.Tasks.SelectResponse(w.customer.Ctx, in))(t)
	require.True(t, again.IsRepeat())
	require.Equal(t, body(t, made), body(t, again))
	require.Equal(t, made.Order.ID, again.Order.ID)
	for _, change := range map[string]func(*tasks.SelectInput){
		"total":    func(in *tasks.SelectInput) { in.ConfirmedTotalMinor = graphtest.Ptr[int64](1) },
		"response": func(in *tasks.SelectInput) { in.ResponseID = ptr(uuid.NewString()) },
		"task":     func(in *tasks.SelectInput) { in.TaskID = uuid.NewString() },
	} {
		changed := in
		change(&changed)
		graphtest.Refused(t, fault.IdempotencyConflict)(w.Tasks.SelectResponse(w.customer.Ctx, changed))
	}
	spelled := in
	spelled.OperationID, spelled.ResponseID = ptr(strings.ToUpper(*in.OperationID)), ptr(strings.ToUpper(*in.ResponseID))
	again = graphtest.Got(w.Tasks.SelectResponse(w.customer.Ctx, spelled))(t, "a UUID in either case is the same UUID")
	require.Equal(t, body(t, made), body(t, again))
	require.Equal(t, entries, w.Count("SELECT count(*) FROM ledger_entries"))
	graphtest.Refused(t, fault.NotFound)(w.Tasks.SelectResponse(w.responder.Ctx, in))
}
