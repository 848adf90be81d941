package orders

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/order"
)

// step is what happened: one row of the order's history.
type step struct {
	// action is an Action, or `create` or `select` for the first.
	action string
	by     uuid.UUID
	at     time.Time
	// confirmedTotal, resultText and reason are what the action's body said.
	confirmedTotal *int64
	resultText     *string
	reason         *string
}

// record writes down what an order remembers of a step, beside its state and version.
type record func(o *ent.Order, s step)

// funded notes when the price was reserved, and the total where the customer confirmed it just now.
func funded(o *ent.Order, s step) {
	o.FundedAt = &s.at
	if s.by == o.CustomerID {
		o.ConfirmedTotalMinor = s.confirmedTotal
	}
}

func delivered(o *ent.Order, s step) {
	o.ResultText, o.DeliveredAt = s.resultText, &s.at
}

func disputed(o *ent.Order, s step) {
	o.DisputedBy, o.DisputeReason, o.DisputedAt = &s.by, s.reason, &s.at
}

func refundProposed(o *ent.Order, s step) {
	o.RefundProposedBy, o.RefundReason, o.RefundProposedAt = &s.by, s.reason, &s.at
}

func closed(outcome order.Outcome) record {
	return func(o *ent.Order, s step) { o.Outcome, o.ClosedAt = &outcome, &s.at }
}
