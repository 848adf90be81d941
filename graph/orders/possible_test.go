package orders_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/graph/orders"
)

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
