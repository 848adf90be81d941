package orders_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
		got := graphtest.Got(s.Orders.MyOrders(by.Ctx, in))(t)
		return got
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
		_, err := s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{Page: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidPagination).Fields, "page")
	}
	for _, bad := range []page.Param{{""}, {"0"}, {"51"}} {
		_, err := s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{PageSize: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidPagination).Fields, "page_size")
	}
	for _, bad := range []page.Param{{""}, {"open"}, {"Offered"}, {"offered", "offered"}} {
		_, err := s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{State: bad})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "state")
	}
	graphtest.Refused(t, fault.Unauthorized)(s.Orders.MyOrders(t.Context(), orders.ListInput{}))
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
	graphtest.Refused(t, fault.Unauthorized)(s.Orders.Order(t.Context(), orders.OrderInput{OrderID: card.ID.String()}))
	require.Equal(t, "contractor", s.read(s.contractor, card.ID).Order.Role)
}
