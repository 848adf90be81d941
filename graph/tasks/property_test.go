package tasks_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// invariants of the board after any requests, as queries for rows that break one.
var invariants = map[string]string{
	"a task has at most one selected response, and one order": `
		SELECT t.id FROM tasks t LEFT JOIN responses r ON r.task_id = t.id AND r.state = 'selected' LEFT JOIN orders o ON o.task_id = t.id
		GROUP BY t.id HAVING count(DISTINCT r.id) <> count(DISTINCT o.id) OR count(DISTINCT o.id) <> (t.state = 'selected')::int`,
	"the order has the terms of the selected response": `
		SELECT t.id FROM tasks t JOIN responses r ON r.task_id = t.id AND r.state = 'selected' JOIN orders o ON o.id = t.order_id
		WHERE (o.task_id, o.customer_id, o.contractor_id, o.amount_minor, o.fee_bps) <> (t.id, t.customer_id, r.bot_id, r.amount_minor, t.fee_bps)`,
	"responses are open as long as their task": `
		SELECT t.id FROM tasks t JOIN responses r ON r.task_id = t.id WHERE r.state <> 'withdrawn' AND (t.state = 'open') <> (r.state = 'open')`,
	"a response asks for what it reserves": `
		SELECT r.id FROM tasks t JOIN responses r ON r.task_id = t.id WHERE r.total_minor - r.amount_minor <> (r.amount_minor * t.fee_bps + 5000) / 10000`,
	"an agent has one response to a task": `
		SELECT r.task_id FROM responses r WHERE r.state <> 'withdrawn' GROUP BY r.task_id, r.bot_id HAVING count(*) > 1`,
	"every response is announced": `
		SELECT r.id FROM tasks t JOIN responses r ON r.task_id = t.id LEFT JOIN events e ON e.kind = 'task.responded' AND e.recipient_id = t.customer_id
		  AND convert_from(e.payload, 'UTF8') = format('{"task_id":"%s","response_id":"%s","bot_id":"%s"}', t.id, r.id, r.bot_id)
		GROUP BY r.id HAVING count(e.id) <> 1`,
	"every author gets one event about the end of its response": `
		SELECT r.id FROM tasks t JOIN responses r ON r.task_id = t.id LEFT JOIN events e ON e.kind IN ('task.selected', 'task.declined')
		  AND convert_from(e.payload, 'UTF8') LIKE format('%%"response_id":"%s"%%', r.id)
		GROUP BY r.id, r.bot_id, r.state HAVING string_agg(e.recipient_id || e.kind, ' ') IS DISTINCT FROM
		  CASE WHEN r.state IN ('selected', 'declined') THEN r.bot_id || 'task.' || r.state END`,
	"responses are counted": `
		SELECT t.id FROM tasks t LEFT JOIN responses r ON r.task_id = t.id GROUP BY t.id HAVING t.response_count <> count(r.id) FILTER (WHERE r.state <> 'withdrawn')`,
	"no agent responds to its own task": `
		SELECT t.id FROM tasks t JOIN responses r ON r.task_id = t.id AND r.bot_id = t.customer_id`,
	"both get an event of every step": `
		SELECT o.id FROM orders o LEFT JOIN events e ON e.kind = 'order.changed' AND convert_from(e.payload, 'UTF8') LIKE '%' || o.id || '%'
		GROUP BY o.id HAVING count(e.id) <> 2 * o.version`,
}

// Random batches of concurrent requests, on a few tasks of a few agents, keep the invariants of board and ledger, and no request
// gets a fault that no order of the requests explains.
func TestRandomRequestsKeepInvariants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agents := []*graphtest.Agent{w.customer, w.responder, w.Agent(), w.Agent()}
	expected := []fault.Code{
		"", fault.StateConflict, fault.NotFound, fault.Forbidden, fault.PriceChanged, fault.InsufficientFunds, fault.IdempotencyConflict, fault.VersionConflict,
	}
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string) *graphtest.Agent { return rapid.SampledFrom(agents).Draw(rt, name) }
		var board []*tasks.Card
		for range rapid.IntRange(1, 3).Draw(rt, "tasks") {
			customer, reward := pick("customer"), rapid.SampledFrom([]int64{1, 1005, 60_000, 400_000}).Draw(rt, "reward")
			if w.balances(customer)[0] < 2*reward { // it could not be posted
				reward = 1
			}
			board = append(board, w.Tasked(customer, "A sonnet", "Fourteen lines.", reward))
		}
		var made []*tasks.ResponseCard
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			var requests []func() error
			for range rapid.IntRange(1, 8).Draw(rt, "requests") {
				by, task := pick("by"), rapid.SampledFrom(board).Draw(rt, "task")
				switch rapid.IntRange(0, 8).Draw(rt, "what") {
				case 0, 1, 2:
					in := answer(task, rapid.SampledFrom([]string{"I", "You"}).Draw(rt, "text"))
					if rapid.Bool().Draw(rt, "asks") {
						in.AmountMinor = graphtest.Ptr(rapid.SampledFrom([]int64{1, 1004, 70_000}).Draw(rt, "asked"))
					}
					requests = append(requests, w.responding(by, in))
				case 3, 4, 5:
					if len(made) == 0 {
						continue
					}
					in := choice(task, rapid.SampledFrom(made).Draw(rt, "response"))
					price := graphtest.Got(orders.Price(rapid.SampledFrom(made).Draw(rt, "priced").AmountMinor, task.FeeBps))(rt)
					in.ConfirmedTotalMinor = &price.TotalMinor
					choosing := func() error { return graphtest.Err(w.Tasks.SelectResponse(by.Ctx, in)) }
					requests = append(requests, choosing)
					if rapid.Bool().Draw(rt, "twice") {
						requests = append(requests, choosing)
					}
				case 6, 7:
					if len(made) == 0 {
						continue
					}
					response, withdraw := rapid.SampledFrom(made).Draw(rt, "changed"), rapid.Bool().Draw(rt, "withdraw")
					in := changing(response, "We")
					in.AmountMinor = graphtest.Ptr(rapid.SampledFrom([]int64{1, 1004, 70_000}).Draw(rt, "now"))
					requests = append(requests, func() error {
						if withdraw {
							return graphtest.Err(w.Tasks.WithdrawResponse(by.Ctx, namingResponse(response)))
						}
						return graphtest.Err(w.Tasks.UpdateResponse(by.Ctx, in))
					})
				default:
					requests = append(requests, func() error { return graphtest.Err(w.Tasks.CloseTask(by.Ctx, naming(task))) })
				}
			}
			for _, code := range together(requests...) {
				require.Contains(rt, expected, code)
			}
			made = made[:0]
			for _, task := range board {
				for _, customer := range agents {
					if customer.ID == task.Customer.ID {
						made = append(made, w.responses(customer, task)...)
					}
				}
			}
		}
		for what, query := range invariants {
			require.Zero(rt, w.Count("SELECT count(*) FROM ("+query+") AS broken"), what)
		}
		require.Empty(rt, graphtest.Got(w.Wallet.Reconcile(t.Context()))(rt))
		require.Equal(rt, int64(len(agents))*500_000, w.money(), "agents and platform together have as much as was granted")
		w.finish(agents, board, rapid.Bool().Draw(rt, "completed"))
		require.Equal(rt, int64(len(agents))*500_000, w.money(), "also when the orders are closed")
	})
}

// money is the sum of the agents' balances and the platform's fees.
func (w *world) money() int64 {
	return w.Count("SELECT (SELECT sum(available_minor + reserved_minor) FROM accounts) + (SELECT coalesce(sum(delta_minor), 0) FROM ledger_entries WHERE account_kind = 'fees')")
}

// finish closes the orders made from tasks, like every order: completed or refunded.
func (w *world) finish(agents []*graphtest.Agent, board []*tasks.Card, completed bool) {
	agent := map[uuid.UUID]*graphtest.Agent{}
	for _, a := range agents {
		agent[a.ID] = a
	}
	for _, task := range board {
		customer := agent[task.Customer.ID]
		id := w.see(customer.Ctx, task).OrderID()
		if id == nil {
			continue
		}
		detail := graphtest.Got(w.Orders.Order(customer.Ctx, orders.OrderInput{OrderID: id.String()}))(w.t)
		order, contractor := detail.Order, agent[detail.Order.ContractorID]
		steps := []orders.Action{orders.ProposeRefund, orders.ApproveRefund}
		by := []*graphtest.Agent{contractor, customer}
		if completed {
			steps, by = []orders.Action{orders.Start, orders.Deliver, orders.Complete}, []*graphtest.Agent{contractor, contractor, customer}
		}
		for i, step := range steps {
			order = w.act(by[i], order, step)
		}
		require.Equal(w.t, "closed", order.State)
		require.Equal(w.t, "selected", w.see(customer.Ctx, task).State, "the task stays given away")
	}
	w.reconciled()
}
