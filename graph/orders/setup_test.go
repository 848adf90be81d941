package orders_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
)

// amount is the reward of a test order; at 10 % the customer pays 1100.
const (
	amount int64 = 1000
	total  int64 = 1100
)

// pair is two friends who trade.
type pair struct {
	*graphtest.World
	t                    testing.TB
	customer, contractor *graphtest.Agent
	// contact of the two.
	contact uuid.UUID
}

func newPair(t testing.TB) *pair {
	t.Helper()
	return pairIn(t, graphtest.New(t))
}

// pairIn makes two friends in a database that tests share.
func pairIn(t testing.TB, w *graphtest.World) *pair {
	t.Helper()
	s := &pair{World: w, t: t, customer: w.Agent(), contractor: w.Agent()}
	s.contact = w.Befriend(s.customer, s.contractor)
	return s
}

// shared is for tests that read and change only their own agents.
var shared graphtest.Shared

// sharedPair makes two friends in the shared database.
func sharedPair(t testing.TB) *pair {
	t.Helper()
	return pairIn(t, shared.World(t))
}

func TestMain(m *testing.M) {
	graphtest.Checks(15)
	m.Run()
	shared.Close()
}

// newID returns a new id in the form that a client sends.
func newID() *string { return graphtest.Ptr(uuid.NewString()) }

// terms returns a valid offer by the customer or, without a confirmed total, by the contractor.
func (s *pair) terms(byCustomer bool) orders.CreateInput {
	in := orders.CreateInput{
		OperationID: newID(), Title: graphtest.Ptr("A sonnet"), Description: graphtest.Ptr("Fourteen lines."),
		Deadline: graphtest.Ptr(s.Now().Add(24 * time.Hour).Format(time.RFC3339Nano)), AmountMinor: graphtest.Ptr(amount),
	}
	if byCustomer {
		in.ContractorID, in.ConfirmedTotalMinor = graphtest.Ptr(s.contractor.ID.String()), graphtest.Ptr(total)
	} else {
		in.CustomerID = graphtest.Ptr(s.customer.ID.String())
	}
	return in
}

// offer makes an order by either of the two.
func (s *pair) offer(byCustomer bool) *orders.Card {
	by := s.contractor
	if byCustomer {
		by = s.customer
	}
	return graphtest.Got(s.Orders.CreateOrder(by.Ctx, s.terms(byCustomer)))(s.t).Order
}

// command is a valid body of an action on a card, for either role.
func command(card *orders.Card, action orders.Action) orders.ActInput {
	in := orders.ActInput{
		OrderID: card.ID.String(), Action: action, OperationID: newID(), ExpectedVersion: graphtest.Ptr(int64(card.Version)),
	}
	switch action {
	case orders.Accept:
		in.ConfirmedTotalMinor = graphtest.Ptr(card.TotalMinor)
	case orders.Deliver:
		in.ResultText = graphtest.Ptr("Shall I compare thee …")
	case orders.Dispute, orders.ProposeRefund:
		in.Reason = graphtest.Ptr("It does not scan.")
	}
	return in
}

// act takes a valid step.
func (s *pair) act(by *graphtest.Agent, card *orders.Card, action orders.Action) *orders.Card {
	return graphtest.Got(s.Orders.OrderAct(by.Ctx, command(card, action)))(s.t).Order
}

// read returns an order as an agent sees it.
func (s *pair) read(by *graphtest.Agent, id uuid.UUID) *orders.Detail {
	return graphtest.Got(s.Orders.Order(by.Ctx, orders.OrderInput{OrderID: id.String()}))(s.t)
}

// balances of an agent: available and reserved.
func (s *pair) balances(of *graphtest.Agent) [2]int64 {
	own := graphtest.Got(s.Wallet.MyWallet(of.Ctx))(s.t)
	return [2]int64{own.Wallet.AvailableMinor, own.Wallet.ReservedMinor}
}

// requireSoundLedger requires a ledger without a discrepancy.
func (s *pair) requireSoundLedger() {
	require.Empty(s.t, graphtest.Got(s.Wallet.Reconcile(s.t.Context()))(s.t))
}

// A page, of one state or of all, reads the newest orders of each role and state, and the orders of the page, however many orders
// the agent has.
func TestListsReadOnePage(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	s.Exec(`INSERT INTO orders (id, created_at, updated_at, author_id, customer_id, contractor_id, title, description, deadline,
			amount_minor, fee_minor, total_minor, fee_bps, state, outcome, closed_at)
		SELECT gen_random_uuid(), stoa_now() - n * interval '1 second', stoa_now(), $1, CASE WHEN n % 2 = 0 THEN $1::uuid ELSE $2::uuid END,
		  CASE WHEN n % 2 = 0 THEN $2::uuid ELSE $1::uuid END, 't', 'd', stoa_now(), 1000, 100, 1100, 1000,
		  CASE WHEN n % 250 = 0 THEN 'offered' ELSE 'closed' END,
		  CASE WHEN n % 250 > 0 THEN 'cancelled' END, CASE WHEN n % 250 > 0 THEN stoa_now() END
		FROM generate_series(1, 8000) AS n`, s.customer.ID, s.contractor.ID)
	s.Exec("ANALYZE orders")
	const enough = int64(100)
	require.LessOrEqual(t, s.RowsRead("orders", graphtest.Statement("list_orders"), s.customer.ID, 0, 21), enough)
	for _, state := range []string{"offered", "closed", "disputed"} {
		rows := s.RowsRead("orders", graphtest.Statement("list_orders_in_state"), s.customer.ID, state, 0, 21)
		require.LessOrEqual(t, rows, enough, state)
	}
}
