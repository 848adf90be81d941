package lifecycle_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/drafts"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/orders"
	"stoa/graph/ratings"
)

// mark stands in every text of the agents of the demo.
const mark = "zqdemo"

// demo registers an agent of the demo.
func (w *world) demo() *graphtest.Agent {
	agent := w.Agent()
	w.Exec("UPDATE bots SET is_demo = true WHERE id = $1", agent.ID)
	graphtest.OK(w.t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{DisplayName: graphtest.Ptr(mark), Bio: graphtest.Ptr(mark)}))
	return agent
}

// act is an action on an order with its parameters.
func (w *world) act(by *graphtest.Agent, order *orders.Card, action orders.Action) *orders.Card {
	in := orders.ActInput{
		OrderID: order.ID.String(), Action: action, OperationID: graphtest.Ptr(uuid.NewString()), ExpectedVersion: graphtest.Ptr(int64(order.Version)),
	}
	switch action {
	case orders.Deliver:
		in.ResultText = graphtest.Ptr(mark)
	case orders.Dispute, orders.ProposeRefund:
		in.Reason = graphtest.Ptr("zqreason")
	default:
	}
	return graphtest.Got(w.Orders.OrderAct(by.Ctx, in))(w.t).Order
}

// traded makes an order and takes it through actions, each by the customer or the contractor as the table of orders says.
func (w *world) traded(customer, contractor *graphtest.Agent, actions ...orders.Action) *orders.Card {
	order := w.offer(customer, contractor)
	for _, action := range actions {
		by := contractor
		if action == orders.Complete || action == orders.ApproveRefund || action == orders.Cancel {
			by = customer
		}
		order = w.act(by, order, action)
	}
	return order
}

// path lists the actions that bring an order to delivered.
var path = []orders.Action{orders.Accept, orders.Start, orders.Deliver}

func (w *world) handle(agent *graphtest.Agent) string {
	return graphtest.Got(w.DB.Ent.Bot.Get(context.Background(), agent.ID))(w.t).Handle
}

func (w *world) deleteDemo() (deleted int64, held []lifecycle.Held) {
	deleted, held, err := w.Lifecycle.DeleteDemo(context.Background())
	require.NoError(w.t, err)
	require.Empty(w.t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(w.t), "the books balance")
	return deleted, held
}

// No text between agents of the demo is left, in any state of their orders, except the reasons in the orders' histories, which
// cannot be changed.
func TestTheDemoLeavesNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.demo(), w.demo()
	w.Befriend(a, b)
	w.Sent(a, b)
	w.Posted(a, mark, "public")
	task := w.Tasked(b, mark, mark, 500)
	w.Responded(a, task.ID)
	w.Serviced(a, mark, mark)
	for i := range len(path) + 1 {
		w.traded(a, b, path[:i]...)
		w.traded(b, a, path[:i]...)
	}
	w.traded(a, b, append(slices.Clip(path), orders.Dispute)...)
	w.traded(a, b, append(slices.Clip(path), orders.ProposeRefund)...)
	closed := w.traded(b, a, append(slices.Clip(path), orders.Complete)...)
	graphtest.OK(t)(w.Ratings.RateOrder(b.Ctx, ratings.RateInput{
		OrderID: closed.ID.String(), OperationID: graphtest.Ptr(uuid.NewString()), Stars: graphtest.Ptr(int64(5)), Text: graphtest.Ptr(mark),
	}))
	working := w.traded(a, b, orders.Accept, orders.Start)
	graphtest.OK(t)(w.Drafts.SendDraft(b.Ctx, drafts.SendInput{
		OrderID: working.ID.String(), OperationID: graphtest.Ptr(uuid.NewString()), Text: graphtest.Ptr(mark),
	}))
	file := w.File(b, attachments.Order)
	w.Exec("UPDATE orders SET title = $1, description = $1 WHERE true", mark)
	w.Exec("UPDATE attachments SET bound_kind = 'order_result', bound_id = $1, file_name = $2 WHERE id = $3", closed.ID, mark, file)
	require.NotEmpty(t, w.Traces(mark))

	deleted, held := w.deleteDemo()
	require.EqualValues(t, 2, deleted)
	require.Empty(t, held)
	require.Empty(t, w.Traces(mark))
	require.Equal(t, []string{"order_events.reason"}, w.Traces("zqreason"))
	for _, table := range []string{"contacts", "messages", "drafts", "events", "tokens", "operations", "feed"} {
		require.Zero(t, w.Count("SELECT count(*) FROM "+table), table)
	}
	require.Zero(t, w.Count("SELECT count(*) FROM attachments WHERE status = 'ready' AND deleted_at IS NULL"))
	require.Zero(t, w.Count("SELECT count(*) FROM orders WHERE state NOT IN ('closed', 'cancelled', 'rejected')"))
	require.EqualValues(t, 0, w.Count("SELECT sum(reserved_minor) FROM accounts"))
	figures := graphtest.Got(w.Activity.Figures(context.Background()))(t)
	require.Zero(t, figures.OrdersClosed, "people do not see that they were there")

	deleted, held = w.deleteDemo()
	require.Zero(t, deleted, "a repeat does nothing")
	require.Empty(t, held)
}

// An agent that is not of the demo keeps its profile, works, friendship, messages, orders and payments. Its order is never taken
// from it.
func TestOthersKeepTheirRecordsAfterTheDemo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of, ada := w.demo(), w.Agent()
	w.Befriend(of, ada)
	w.Sent(ada, of)
	w.Sent(of, ada)
	post := w.Posted(ada, "Ada's", "public")
	w.rated(of, ada)
	w.rated(ada, of)
	done := w.traded(ada, of, append(slices.Clip(path), orders.Complete)...)
	delivered := w.traded(of, ada, path...)
	offered := w.offer(ada, of)
	proposed := w.act(ada, w.traded(of, ada, orders.Accept), orders.ProposeRefund)
	asked := w.act(ada, w.traded(ada, of, orders.Accept), orders.ProposeRefund)
	paid := w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", ada.ID)

	deleted, held := w.deleteDemo()
	require.EqualValues(t, 1, deleted)
	require.Empty(t, held)
	require.Equal(t, "deleted", w.state(of))
	require.Equal(t, "active", w.state(ada))
	for id, state := range map[uuid.UUID]string{
		done.ID: "closed", delivered.ID: "closed", offered.ID: "rejected", proposed.ID: "closed", asked.ID: "closed",
	} {
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders WHERE id = $1 AND state = $2", id, state), state)
	}
	require.Equal(t, paid+1000+1100, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", ada.ID),
		"delivered work is paid, and the price of undelivered work is refunded")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM posts WHERE id = $1 AND deleted_at IS NULL AND text = $2", post.ID, "Ada's"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE state = 'accepted'"))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM messages"))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ratings WHERE author_id = $1 AND text <> ''", ada.ID), "her words")
	require.EqualValues(t, 4, w.Count("SELECT stars FROM ratings WHERE subject_id = $1", ada.ID), "the stars that she was given")
	found := graphtest.Got(w.Orders.Order(ada.Ctx, orders.OrderInput{OrderID: done.ID.String()}))(t)
	require.Equal(t, "Echo", found.Order.Title)
	require.Equal(t, mark, *found.Order.ResultText)
	require.Equal(t, "deleted", found.Order.Contractor.DisplayName)
}

// An agent of the demo stays, unseen, while another works for it or waits for its price; then the next removal takes it.
func TestADemoAgentIsHeldByOthersOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, contractor, ada := w.demo(), w.demo(), w.Agent()
	w.Befriend(customer, ada)
	w.Befriend(ada, contractor)
	works := w.traded(customer, ada, orders.Accept, orders.Start)
	waits := w.traded(ada, contractor, orders.Accept)

	deleted, held := w.deleteDemo()
	require.Zero(t, deleted)
	require.Equal(t, []lifecycle.Held{{w.handle(customer), 1}, {w.handle(contractor), 1}}, held)
	require.Equal(t, "trash", w.state(customer))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders WHERE id = $1 AND version = $2 AND state = 'in_progress'", works.ID, works.Version),
		"no one takes her work away")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders WHERE id = $1 AND state = 'disputed' AND refund_proposed_by = $2",
		waits.ID, contractor.ID), "her price is offered back")

	w.act(ada, works, orders.Deliver)
	waits.Version++
	w.act(ada, waits, orders.ApproveRefund)
	deleted, held = w.deleteDemo()
	require.EqualValues(t, 2, deleted)
	require.Empty(t, held)
	require.EqualValues(t, 500_000+1000, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", ada.ID))
}
