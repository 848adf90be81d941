package drafts_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/drafts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// maxDrafts is how many drafts an order may have (§2.11).
const maxDrafts = 20

// started is an order in progress.
func started(t *testing.T, w *graphtest.World) (order *orders.Card, customer, contractor *graphtest.Agent) {
	t.Helper()
	customer, contractor = w.Agent(), w.Agent()
	task := w.Tasked(customer, "A song", "About dots.", 1000)
	order = w.Selected(customer, task, w.Responded(contractor, task.ID).ID)
	begun := graphtest.Got(w.Orders.OrderAct(contractor.Ctx, orders.ActInput{
		OrderID: order.ID.String(), Action: orders.Start, OperationID: newID(), ExpectedVersion: graphtest.Ptr(int64(order.Version)),
	}))(t)
	return begun.Order, customer, contractor
}

func newID() *string { return graphtest.Ptr(uuid.NewString()) }

// draft is a valid draft of an order.
func draft(order *orders.Card, id *string) drafts.SendInput {
	return drafts.SendInput{OrderID: order.ID.String(), OperationID: id, Text: graphtest.Ptr("The first verse.")}
}

// Concurrent drafts have different numbers, and there are at most twenty.
func TestDraftsAtOnceAreCounted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	order, customer, contractor := started(t, w)
	ended := graphtest.AtOnce(maxDrafts+5, func(int) error {
		return graphtest.Err(w.Drafts.SendDraft(contractor.Ctx, draft(order, newID())))
	})
	require.Equal(t, map[fault.Code]int{"": maxDrafts, fault.StateConflict: 5}, ended.Count())
	list := graphtest.Got(w.Drafts.OrderDrafts(customer.Ctx, drafts.ListInput{OrderID: order.ID.String()}))(t)
	for i, shown := range list.Drafts {
		require.Equal(t, maxDrafts-i, shown.Number)
	}
	require.EqualValues(t, maxDrafts, w.Count("SELECT count(*) FROM events WHERE kind = 'order.draft' AND recipient_id = $1", customer.ID))
}

// One operation id makes one draft, however often and whenever it is sent.
func TestADraftAtOnceIsOne(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	order, customer, contractor := started(t, w)
	id := newID()
	ended := graphtest.AtOnce(8, func(int) error { return graphtest.Err(w.Drafts.SendDraft(contractor.Ctx, draft(order, id))) })
	require.Equal(t, map[fault.Code]int{"": 8}, ended.Count())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM drafts WHERE order_id = $1", order.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events WHERE kind = 'order.draft' AND recipient_id = $1", customer.ID))
}

// An operation id that is sent to two orders concurrently makes a draft of one of them.
func TestAnOperationIDMakesADraftOfOneOrder(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	first, customer, contractor := started(t, w)
	task := w.Tasked(customer, "Another song", "About lines.", 1000)
	second := w.Selected(customer, task, w.Responded(contractor, task.ID).ID)
	graphtest.OK(t)(w.Orders.OrderAct(contractor.Ctx, orders.ActInput{
		OrderID: second.ID.String(), Action: orders.Start, OperationID: newID(), ExpectedVersion: graphtest.Ptr(int64(second.Version)),
	}))
	id := newID()
	ended := graphtest.AtOnce(2, func(i int) error {
		return graphtest.Err(w.Drafts.SendDraft(contractor.Ctx, draft([]*orders.Card{first, second}[i], id)))
	})
	require.Equal(t, map[fault.Code]int{"": 1, fault.IdempotencyConflict: 1}, ended.Count())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM drafts"))
}

// A draft has one reply, and none after the delivery, even if replies, drafts and the delivery are concurrent.
func TestRepliesAndDeliveryAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	order, customer, contractor := started(t, w)
	made := graphtest.Got(w.Drafts.SendDraft(contractor.Ctx, draft(order, newID())))(t)
	ended := graphtest.AtOnce(6, func(i int) error {
		switch i {
		case 0:
			return graphtest.Err(w.Orders.OrderAct(contractor.Ctx, orders.ActInput{
				OrderID: order.ID.String(), Action: orders.Deliver, OperationID: newID(), ExpectedVersion: graphtest.Ptr(int64(order.Version)),
				ResultText: graphtest.Ptr("Done."),
			}))
		case 1:
			return graphtest.Err(w.Drafts.SendDraft(contractor.Ctx, draft(order, newID())))
		default:
			return graphtest.Err(w.Drafts.ReplyToDraft(customer.Ctx, drafts.ReplyInput{
				OrderID: order.ID.String(), DraftID: made.Draft.ID.String(), OperationID: newID(), Verdict: graphtest.Ptr(drafts.Fine),
			}))
		}
	})
	require.Empty(t, ended[0], "a draft never stops a delivery")
	replied := ended[2:].Count()
	require.LessOrEqual(t, replied[""], 1)
	require.Equal(t, 4-replied[""], replied[fault.StateConflict])
	require.EqualValues(t, replied[""], w.Count("SELECT count(*) FROM drafts WHERE verdict IS NOT NULL"))
	require.Contains(t, []fault.Code{"", fault.StateConflict}, ended[1])
	graphtest.Refused(t, fault.StateConflict)(w.Drafts.SendDraft(contractor.Ctx, draft(order, newID())))
}
