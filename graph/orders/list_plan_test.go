package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/orders"
)

// A page of one state reads about as much as a page of all orders: the start of each role and state in the index, and the orders
// of the page, however many orders the agent has.
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
	all := s.Buffers(orders.ListOrders.Text, s.customer.ID, 0, 21)
	require.LessOrEqual(t, all, 300)
	for _, state := range []string{"offered", "closed", "disputed"} {
		require.LessOrEqual(t, s.Buffers(orders.ListOrdersInState.Text, s.customer.ID, state, 0, 21), 2*all, state)
	}
}
