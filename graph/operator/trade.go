package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/receipts"
)

// OpenTradesMost is the maximum number of open orders on a page.
const OpenTradesMost = 50

// tradeRow is a row of select_trades.
type tradeRow struct {
	Trade

	CustomerID          uuid.UUID
	ContractorID        uuid.UUID
	AuthorID            uuid.UUID
	RefundProposedBy    *uuid.UUID
	DisputedBy          *uuid.UUID
	CustomerSuspended   bool
	ContractorSuspended bool
	Now                 time.Time
	CustomerOwned       bool
	ContractorOwned     bool
}

// Trade returns an order, the reasons why it is stuck, and who can end it; nil if there is no such order. Faults: unauthorized.
func (a *API) Trade(ctx context.Context, orderID uuid.UUID) (*Trade, error) {
	r := a.reads(ctx)
	all := r.trades(ctx, []uuid.UUID{orderID}, uuid.Nil)
	if len(all) == 0 {
		return nil, r.err
	}
	all[0].Receipt = part(r, func() (string, error) { return receipts.Summary(ctx, a.DB.SQL, orderID) })
	return all[0], r.err
}

// Trades returns the existing orders, the reasons why they are stuck, and who can end them. Faults: unauthorized,
// invalid_pagination for more than MaxPage.
func (a *API) Trades(ctx context.Context, orderIDs []uuid.UUID) ([]*Trade, error) {
	r := a.reads(ctx)
	if r.err == nil && len(orderIDs) > MaxPage {
		r.err = fault.Field(fault.InvalidPagination, "orderIds", "must be at most 100")
	}
	all := r.trades(ctx, orderIDs, uuid.Nil)
	return all, r.err
}

// trades returns the orders with ids, in that order, as they would be after suspended is suspended; uuid.Nil for no suspension.
func (r *reads) trades(ctx context.Context, ids []uuid.UUID, suspended uuid.UUID) []*Trade {
	all := []*Trade{}
	for _, row := range table[tradeRow](ctx, r, named("select_trades"), db.IDs(ids)) {
		row.CustomerSuspended = row.CustomerSuspended || row.CustomerID == suspended
		row.ContractorSuspended = row.ContractorSuspended || row.ContractorID == suspended
		made := row.trade()
		for _, side := range made.Sides {
			side.Mailable = side.Owned && r.Owners.SendsMail
		}
		all = append(all, made)
	}
	slices.SortFunc(all, func(one, other *Trade) int { return slices.Index(ids, one.ID) - slices.Index(ids, other.ID) })
	return all
}

func (r *tradeRow) trade() *Trade {
	possible := orders.PossibleActions(&ent.Order{
		CustomerID: r.CustomerID, ContractorID: r.ContractorID, AuthorID: r.AuthorID, State: r.State, RefundProposedBy: r.RefundProposedBy,
	})
	t := &r.Trade
	t.Stuck, t.Ends = r.stuck(), []string{}
	t.Sides = []*TradeSide{
		{BotID: r.CustomerID, Handle: r.Customer, Suspended: r.CustomerSuspended, Owned: r.CustomerOwned},
		{BotID: r.ContractorID, Handle: r.Contractor, Suspended: r.ContractorSuspended, Owned: r.ContractorOwned},
	}
	if possible.Turn != nil {
		t.Turn = r.handle(*possible.Turn)
	}
	refundable, refund := false, "A refund needs both: one proposes it, the other approves it"
	for i, actions := range [][]orders.Action{possible.Customer, possible.Contractor} {
		side, ends := t.Sides[i], []string{}
		refundable = refundable || slices.Contains(actions, orders.ProposeRefund)
		for _, action := range actions {
			if action.Ends() {
				ends = append(ends, string(action))
			}
		}
		sentence := "@%s can end it: %s."
		if side.Suspended {
			sentence, refund = "@%s could end it (%s) if it were not suspended.", refund+", and @"+side.Handle+" is suspended"
		}
		if len(ends) > 0 {
			t.Ends = append(t.Ends, fmt.Sprintf(sentence, side.Handle, strings.Join(ends, ", ")))
		}
	}
	if refundable {
		t.Ends = append(t.Ends, refund+".")
	}
	return t
}

// stuck returns the reasons for which select_attention counts the order, in sentences.
func (r *tradeRow) stuck() []string {
	all := []string{}
	if r.State == order.StateDisputed {
		by := "a participant"
		if r.DisputedBy != nil {
			by = "@" + r.handle(*r.DisputedBy)
		}
		sentence := "Disputed by " + by
		if r.DisputedBy == nil && r.RefundProposedBy != nil {
			sentence = "A refund was proposed by @" + r.handle(*r.RefundProposedBy)
		}
		all = append(all, sentence+".")
	}
	if slices.Contains([]order.State{order.StateFunded, order.StateInProgress}, r.State) && r.Deadline.Before(r.Now) {
		all = append(all, "Past its deadline.")
	}
	holding := []order.State{order.StateFunded, order.StateInProgress, order.StateDelivered, order.StateDisputed}
	if slices.Contains(holding, r.State) && r.UpdatedAt.Before(r.Now.Add(-idleOrder)) {
		all = append(all, "Untouched for three days while credits are held.")
	}
	return all
}

func (r *tradeRow) handle(id uuid.UUID) string {
	if id == r.CustomerID {
		return r.Customer
	}
	return r.Contractor
}
