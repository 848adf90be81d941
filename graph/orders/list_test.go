package orders_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// ids of a list.
func ids(list *orders.List) []uuid.UUID {
	all := make([]uuid.UUID, len(list.Orders))
	for i, card := range list.Orders {
		all[i] = card.ID
	}
	return all
}

func TestMyOrdersNewestFirst(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	third := s.Agent()
	s.Befriend(third, s.customer)
	back := &pair{World: s.World, t: t, customer: s.contractor, contractor: s.customer}
	var mine []uuid.UUID // newest first; the two alternate as customer and contractor
	for i := range 23 {
		mine = append([]uuid.UUID{[]*pair{s, back}[i%2].offer(i%3 > 0).ID}, mine...)
	}
	theirs := s.terms(false)
	graphtest.OK(t)(s.Orders.CreateOrder(third.Ctx, theirs))

	list := func(by *graphtest.Agent, in orders.ListInput) *orders.List {
		return graphtest.Got(s.Orders.MyOrders(by.Ctx, in))(t)
	}
	first := list(s.contractor, orders.ListInput{})
	require.Equal(t, mine[:20], ids(first))
	require.Equal(t, page.Meta{Page: 1, PageSize: 20, NextPage: graphtest.Ptr(2)}, first.Meta)
	second := list(s.contractor, orders.ListInput{Page: page.Param{"2"}})
	require.Equal(t, mine[20:], ids(second))
	require.Equal(t, page.Meta{Page: 2, PageSize: 20}, second.Meta)
	require.Equal(t, mine[5:10], ids(list(s.contractor, orders.ListInput{Page: page.Param{"2"}, PageSize: page.Param{"5"}})))
	require.Empty(t, list(s.contractor, orders.ListInput{Page: page.Param{"1000"}, PageSize: page.Param{"50"}}).Orders)
	require.NotNil(t, list(s.contractor, orders.ListInput{Page: page.Param{"1000"}}).Orders)
	require.Len(t, list(s.customer, orders.ListInput{PageSize: page.Param{"50"}}).Orders, 24)
	require.Len(t, list(third, orders.ListInput{}).Orders, 1)
	require.Empty(t, list(s.Agent(), orders.ListInput{}).Orders)

	for _, id := range mine[3:6] {
		s.Exec("UPDATE orders SET author_id = $2 WHERE id = $1", id, s.contractor.ID)
		s.act(s.customer, s.read(s.customer, id).Order, orders.Accept)
	}
	funded := list(s.customer, orders.ListInput{State: page.Param{"funded"}})
	require.Equal(t, mine[3:6], ids(funded))
	for _, card := range funded.Orders {
		require.Equal(t, s.read(s.customer, card.ID).Order, card, "a list shows the same cards")
	}
	require.Len(t, list(s.contractor, orders.ListInput{State: page.Param{"offered"}}).Orders, 20)
	require.Empty(t, list(s.contractor, orders.ListInput{State: page.Param{"closed"}}).Orders)
}

func TestMyOrdersRefusals(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	for _, bad := range []page.Param{{""}, {"0"}, {"1001"}, {"01"}, {"x"}, {"1", "1"}} {
		graphtest.RefusedField(t, fault.InvalidPagination, "page")(s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{Page: bad}))
	}
	for _, bad := range []page.Param{{""}, {"0"}, {"51"}} {
		_, err := s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{PageSize: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidPagination).Fields, "page_size")
	}
	for _, bad := range []page.Param{{""}, {"open"}, {"Offered"}, {"offered", "offered"}} {
		graphtest.RefusedField(t, fault.InvalidInput, "state")(s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{State: bad}))
	}
}

func TestOrderIsForItsParticipants(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	card := s.offer(true)
	for _, id := range []string{"", "x", "{" + card.ID.String() + "}"} {
		graphtest.Refused(t, fault.InvalidID)(s.Orders.Order(s.customer.Ctx, orders.OrderInput{OrderID: id}))
	}
	graphtest.Refused(t, fault.NotFound)(s.Orders.Order(s.customer.Ctx, orders.OrderInput{OrderID: uuid.NewString()}))
	graphtest.Refused(t, fault.NotFound)(s.Orders.Order(s.Agent().Ctx, orders.OrderInput{OrderID: card.ID.String()}))
	require.Equal(t, "contractor", s.read(s.contractor, card.ID).Order.Role)
}

// async runs a request in the background.
func async(request func() (*orders.OrderResult, error)) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		result, err := request()
		done <- answer{result, err}
	}()
	return done
}

// If an operation that needs the friendship comes first, the block waits for it.
func TestBlockWaitsForAccept(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.offer(true)
	commit := s.Hold("SELECT FROM accounts WHERE bot_id = $1 FOR UPDATE", s.customer.ID)
	accept := async(s.actRequest(s.contractor, command(card, orders.Accept)))
	s.AwaitLocks(1)
	block := async(func() (*orders.OrderResult, error) {
		_, err := s.Contacts.BlockContact(s.customer.Ctx, contacts.ActInput{ContactID: s.contact.String()})
		return nil, err
	})
	s.AwaitLocks(2)
	commit()
	require.Empty(t, (<-accept).code())
	require.Empty(t, (<-block).code())
	require.Equal(t, "funded", s.read(s.customer, card.ID).Order.State)
}

// A repeat of a running request waits for its result, even if it would now be refused.
func TestRepeatWaitsForFirst(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	terms := s.terms(true)
	create := func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }
	// The first waits at the index of operations, for a row that is rolled back.
	other := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	graphtest.OK(t)(other.Exec(`INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
		VALUES (gen_random_uuid(), now(), $1, $2, '', '')`, s.customer.ID, *terms.OperationID))
	first := async(create)
	s.AwaitLocks(1)
	s.Exec("UPDATE settings SET fee_bps = 1")
	second := async(create)
	s.AwaitLocks(2)
	require.NoError(t, other.Rollback())
	made, again := <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())

	act := command(made.result.Order, orders.Accept)
	commit := s.Hold("SELECT FROM accounts WHERE bot_id = $1 FOR UPDATE", s.customer.ID)
	first = async(s.actRequest(s.contractor, act))
	s.AwaitLocks(1)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.customer.ID)
	second = async(s.actRequest(s.contractor, act))
	s.AwaitLocks(2)
	commit()
	made, again = <-first, <-second
	require.NoError(t, made.err)
	require.NoError(t, again.err)
	require.True(t, again.result.IsRepeat())
}

// The possible actions that operators see agree with the state table.
func TestPossibilities(t *testing.T) {
	t.Parallel()
	customer, contractor := uuid.New(), uuid.New()
	by := func(id uuid.UUID) *uuid.UUID { return &id }
	for _, c := range []struct {
		state                 order.State
		proposed              *uuid.UUID
		customer, contractor  []orders.Action
		turn                  *uuid.UUID
		endsAlone, endsByThem int
	}{
		{order.StateOffered, nil, []orders.Action{orders.Cancel}, []orders.Action{orders.Accept, orders.Reject}, &contractor, 1, 1},
		{order.StateFunded, nil, []orders.Action{orders.Dispute, orders.ProposeRefund}, []orders.Action{orders.Start, orders.Dispute, orders.ProposeRefund}, &contractor, 0, 0},
		{order.StateInProgress, nil, []orders.Action{orders.Dispute, orders.ProposeRefund}, []orders.Action{orders.Deliver, orders.Dispute, orders.ProposeRefund}, &contractor, 0, 0},
		{order.StateDelivered, nil, []orders.Action{orders.Complete, orders.Dispute, orders.ProposeRefund}, []orders.Action{orders.Dispute, orders.ProposeRefund}, &customer, 1, 0},
		{order.StateDisputed, nil, []orders.Action{orders.ProposeRefund}, []orders.Action{orders.ProposeRefund}, nil, 0, 0},
		{order.StateDisputed, by(customer), nil, []orders.Action{orders.ApproveRefund}, &contractor, 0, 1},
		{order.StateDisputed, by(contractor), []orders.Action{orders.ApproveRefund}, nil, &customer, 1, 0},
		{order.StateClosed, nil, nil, nil, nil, 0, 0},
	} {
		p := orders.PossibleActions(&ent.Order{CustomerID: customer, ContractorID: contractor, AuthorID: customer, State: c.state, RefundProposedBy: c.proposed})
		require.Equal(t, c.customer, p.Customer, c.state)
		require.Equal(t, c.contractor, p.Contractor, c.state)
		require.Equal(t, c.turn, p.Turn, c.state)
		ends := func(all []orders.Action) (n int) {
			for _, a := range all {
				if a.Ends() {
					n++
				}
			}
			return n
		}
		require.Equal(t, c.endsAlone, ends(p.Customer), c.state)
		require.Equal(t, c.endsByThem, ends(p.Contractor), c.state)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	for _, c := range []struct{ bps, amount, fee int64 }{
		{1000, 1, 0}, {1000, 4, 0}, {1000, 5, 1}, {1000, 14, 1}, {1000, 15, 2}, {1000, 1000, 100},
		{1000, 909_090_909_091, 90_909_090_909}, {0, 1_000_000_000_000, 0}, {10_000, 500_000_000_000, 500_000_000_000}, {1, 4999, 0}, {1, 5000, 1},
	} {
		s.Exec("UPDATE settings SET fee_bps = $1", c.bps)
		q := graphtest.Got(s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{AmountMinor: &c.amount}))(t)
		require.Equal(t, &orders.Quote{AmountMinor: c.amount, FeeMinor: c.fee, TotalMinor: c.amount + c.fee, FeeBps: c.bps}, q.Quote)
	}
	for _, c := range []struct{ bps, amount int64 }{
		{1000, 0}, {1000, -1}, {1000, math.MinInt64}, {1000, 909_090_909_092}, {1000, math.MaxInt64}, {0, 1_000_000_000_001}, {10_000, 500_000_000_001},
	} {
		s.Exec("UPDATE settings SET fee_bps = $1", c.bps)
		_, err := s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{AmountMinor: &c.amount})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "amount_minor")
	}
	graphtest.Refused(t, fault.InvalidInput)(s.Orders.QuoteOrder(s.customer.Ctx, orders.QuoteInput{}))
}

// The price is the same as in unbounded integers, rounded half up; it is refused exactly if its total exceeds the largest.
func TestPriceIsExact(t *testing.T) {
	t.Parallel()
	largest := big.NewInt(1_000_000_000_000)
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(1, 1<<20), rapid.Int64Range(1, 1<<41), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "amount")
		bps := rapid.Int64Range(0, 10_000).Draw(t, "bps")
		fee := new(big.Int).Mul(big.NewInt(amount), big.NewInt(bps))
		fee.Div(fee.Add(fee, big.NewInt(5000)), big.NewInt(10_000))
		sum := new(big.Int).Add(fee, big.NewInt(amount))
		q, err := orders.Price(amount, bps)
		if sum.Cmp(largest) > 0 {
			require.Equal(t, fault.InvalidInput, fault.From(err).Code)
			return
		}
		require.NoError(t, err)
		require.Equal(t, sum.Int64(), q.TotalMinor)
		require.Equal(t, fee.Int64(), q.FeeMinor)
		require.Equal(t, amount, q.AmountMinor)
	})
}
