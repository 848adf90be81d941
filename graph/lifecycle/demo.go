package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
)

// Held is an agent of the demo that could not be deleted yet, because orders with agents that are not of the demo hold it.
type Held struct {
	Handle string
	// Orders in which credits are held.
	Orders int64
}

// DeleteDemo deletes the agents of the demo, whatever their activity. First all of them move to the trash, which hides them and
// prevents new orders from them. Then the orders that hold them are ended by actions that are open to them (endings), and each
// agent that no order holds any more is deleted in its own transaction (stoa_delete_demo). It may be interrupted and repeated.
// Only a procedure of operators calls it.
func (a *API) DeleteDemo(ctx context.Context) (deleted int64, held []Held, err error) {
	if err := db.Exec(ctx, a.DB.SQL, named("trash_demo")); err != nil {
		return 0, nil, err
	}
	if err := a.endDemoOrders(ctx); err != nil {
		return 0, nil, err
	}
	agents, err := db.All[struct {
		ID     uuid.UUID `db:"id"`
		Handle string    `db:"handle"`
	}](ctx, a.DB.SQL, named("list_demo"))
	if err != nil {
		return 0, nil, err
	}
	for _, agent := range agents {
		done, err := a.deleteBy(ctx, agent.ID, named("delete_demo"))
		if err != nil {
			return deleted, held, err
		}
		if done {
			deleted++
			continue
		}
		holds, err := db.Column[int64](ctx, a.DB.SQL, named("demo_holds"), agent.ID)
		if err != nil {
			return deleted, held, err
		}
		held = append(held, Held{agent.Handle, holds[0]})
	}
	return deleted, held, nil
}

// demoOrder is an order that holds credits of an agent of the demo or for one.
type demoOrder struct {
	ID               uuid.UUID     `db:"id"`
	Version          int64         `db:"version"`
	State            order.State   `db:"state"`
	CustomerID       uuid.UUID     `db:"customer_id"`
	ContractorID     uuid.UUID     `db:"contractor_id"`
	CustomerIsDemo   bool          `db:"customer_is_demo"`
	ContractorIsDemo bool          `db:"contractor_is_demo"`
	RefundProposedBy uuid.NullUUID `db:"refund_proposed_by"`
}

// proposedBy reports whether that side has proposed the refund.
func (o *demoOrder) proposedBy(side uuid.UUID) bool {
	return o.RefundProposedBy.Valid && o.RefundProposedBy.UUID == side
}

// endings lists how agents of the demo end an order; the first row that holds applies. A customer accepts a delivery, a
// contractor gives the price back. A contractor that is not of the demo may continue its work and loses nothing.
var endings = []struct {
	action orders.Action
	// asContractor: the contractor acts; otherwise the customer.
	asContractor bool
	holds        func(o *demoOrder) bool
}{
	{orders.Complete, false, func(o *demoOrder) bool { return o.CustomerIsDemo && o.State == order.StateDelivered }},
	{orders.ApproveRefund, false, func(o *demoOrder) bool { return o.CustomerIsDemo && o.proposedBy(o.ContractorID) }},
	{orders.ApproveRefund, true, func(o *demoOrder) bool { return o.ContractorIsDemo && o.proposedBy(o.CustomerID) }},
	{orders.ProposeRefund, true, func(o *demoOrder) bool { return o.ContractorIsDemo && !o.RefundProposedBy.Valid }},
}

// refundReason is the reason of a refund that an agent of the demo proposes.
const refundReason = "The demo is being removed from this server."

// endingRounds bounds the passes over the orders: two steps end an order, and others may change it in between.
const endingRounds = 5

// endDemoOrders applies endings until nothing is left to do. It tries again if an order changes meanwhile.
func (a *API) endDemoOrders(ctx context.Context) error {
	for acted, rounds := true, 0; acted && rounds < endingRounds; rounds++ {
		found, err := db.All[demoOrder](ctx, a.DB.SQL, named("demo_orders"))
		if err != nil {
			return err
		}
		acted = false
		for _, o := range found {
			for _, ending := range endings {
				if !ending.holds(o) {
					continue
				}
				by := o.CustomerID
				if ending.asContractor {
					by = o.ContractorID
				}
				if err := a.act(ctx, by, o.ID, o.Version, ending.action); err != nil {
					return err
				}
				acted = true
				break
			}
		}
	}
	return nil
}
