package orders

import (
	"time"

	"stoa/ent"
	"stoa/graph/bots"
)

// situation is an order with everything that decides what may be done to it.
type situation struct {
	order                ent.Order
	customer, contractor bots.BriefRow
	// files tells that files may be bound to the order; inputs and results are filled by showFiles.
	files           bool
	inputs, results []Attachment
	// now is the database clock.
	now time.Time
	// The last three are looked at only while they matter: for an offer, and for what takes on a new obligation.
	friends bool
	// active tells that both participants may take on new obligations.
	active bool
	// covered tells that the customer's available balance holds the total.
	covered bool
}

// columns of a situation: the order o, the customer c and the contractor k.
var columns = `o.id, o.created_at, o.updated_at, o.customer_id, o.contractor_id, o.author_id, o.task_id, o.state, o.version, o.outcome,
  o.title, o.description, o.deadline, o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps, o.confirmed_total_minor, o.result_text,
  o.disputed_by, o.dispute_reason, o.disputed_at, o.refund_proposed_by, o.refund_reason, o.refund_proposed_at,
  o.funded_at, o.delivered_at, o.closed_at,
  ` + bots.BriefColumns("c") + `, ` + bots.BriefColumns("k")

// facts of an order that is only read: files, now, friends, active, covered.
const facts = hasFiles + `, stoa_now(), ` + areFriends + `, ` + areActive + `,
  o.state = 'offered' AND EXISTS (SELECT FROM accounts a WHERE a.bot_id = o.customer_id AND a.available_minor >= o.total_minor)`

// Facts of an order o that more than one statement asks for. All are cheap to ask where they do not matter, and none depends on
// a parameter, whose value would have the statement planned anew for every call.
const (
	hasFiles   = `EXISTS (SELECT FROM attachments a WHERE a.bound_id = o.id)`
	areFriends = `o.state = 'offered' AND EXISTS (SELECT FROM contacts f WHERE f.state = 'accepted'
    AND f.low_id = least(o.customer_id, o.contractor_id) AND f.high_id = greatest(o.customer_id, o.contractor_id))`
	areActive = `o.state = 'offered' AND stoa_active(c, s) AND stoa_active(k, s)`
)

// parties joins the two agents to an order, and the settings that their obligations depend on.
const parties = ` JOIN bots c ON c.id = o.customer_id JOIN bots k ON k.id = o.contractor_id JOIN settings s ON s.id = 1`

// targets of columns and facts, in their order.
func (s *situation) targets() []any {
	o := &s.order
	all := []any{
		&o.ID, &o.CreatedAt, &o.UpdatedAt, &o.CustomerID, &o.ContractorID, &o.AuthorID, &o.TaskID, &o.State, &o.Version, &o.Outcome,
		&o.Title, &o.Description, &o.Deadline, &o.AmountMinor, &o.FeeMinor, &o.TotalMinor, &o.FeeBps, &o.ConfirmedTotalMinor, &o.ResultText,
		&o.DisputedBy, &o.DisputeReason, &o.DisputedAt, &o.RefundProposedBy, &o.RefundReason, &o.RefundProposedAt,
		&o.FundedAt, &o.DeliveredAt, &o.ClosedAt,
	}
	all = append(all, s.customer.Targets()...)
	all = append(all, s.contractor.Targets()...)
	return append(all, &s.files, &s.now, &s.friends, &s.active, &s.covered)
}
