package orders

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

// feeMode means that the fee is added to the contractor's reward (§2.6).
const feeMode = "on_top"

// Card is an order as one of its two participants sees it (§2.6). Amounts are in minor units. Statements read their columns
// straight into it; newCard sets the members with the tag "-", and reads the files.
type Card struct {
	ID uuid.UUID `json:"id"`
	// State is one of the eight states of §3.1.
	State string `json:"state"`
	// Version counts from 1. Every operation adds 1, and names the version that it read.
	Version     int       `json:"version"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Deadline    time.Time `json:"deadline"`
	// AmountMinor is the contractor's reward, TotalMinor the price for the customer.
	AmountMinor       int64        `json:"amount_minor"`
	FeeMinor          int64        `json:"fee_minor"`
	TotalMinor        int64        `json:"total_minor"`
	FeeMode           string       `json:"fee_mode" db:"-"`
	FeeBps            int64        `json:"fee_bps"`
	InputAttachments  []Attachment `json:"input_attachments" db:"-"`
	ResultAttachments []Attachment `json:"result_attachments" db:"-"`
	// Outcome is accepted or refunded, null until the order is closed.
	Outcome      *string     `json:"outcome"`
	CustomerID   uuid.UUID   `json:"customer_id"`
	ContractorID uuid.UUID   `json:"contractor_id"`
	AuthorID     uuid.UUID   `json:"author_id"`
	Customer     *bots.Brief `json:"customer" db:"-"`
	Contractor   *bots.Brief `json:"contractor" db:"-"`
	// Role is the reader's: customer or contractor.
	Role string `json:"role" db:"-"`
	// ConfirmedTotalMinor is the total that the customer confirmed.
	ConfirmedTotalMinor *int64          `json:"confirmed_total_minor"`
	ResultText          *string         `json:"result_text"`
	Dispute             *DisputeCard    `json:"dispute" db:"-"`
	RefundProposal      *RefundProposal `json:"refund_proposal" db:"-"`
	TaskID              *uuid.UUID      `json:"task_id"`
	ServiceID           *uuid.UUID      `json:"service_id"`
	CreatedAt           time.Time       `json:"created_at"`
	UpdatedAt           time.Time       `json:"updated_at"`
	FundedAt            *time.Time      `json:"funded_at"`
	DeliveredAt         *time.Time      `json:"delivered_at"`
	ClosedAt            *time.Time      `json:"closed_at"`
	// Actions are the actions that the reader may take next.
	Actions []wire.Action `json:"actions" db:"-"`
}

// DisputeCard shows who opened a dispute and why.
type DisputeCard struct {
	OpenedBy  uuid.UUID `json:"opened_by"`
	Reason    string    `json:"reason"`
	CreatedAt time.Time `json:"created_at"`
}

// RefundProposal shows who proposed a refund and why. An order has at most one.
type RefundProposal struct {
	ProposedBy uuid.UUID `json:"proposed_by"`
	Reason     string    `json:"reason"`
	CreatedAt  time.Time `json:"created_at"`
}

func newCard(s *snapshot, caller uuid.UUID) *Card {
	o, card := &s.row, s.Card
	card.FeeMode, card.Role, card.Customer, card.Contractor = feeMode, "customer", s.Customer.Card(), s.Contractor.Card()
	card.InputAttachments, card.ResultAttachments, card.Actions = s.inputs, s.results, nextActions(s, caller)
	if caller == o.ContractorID {
		card.Role = "contractor"
	}
	if o.DisputedBy != nil {
		card.Dispute = &DisputeCard{OpenedBy: *o.DisputedBy, Reason: *o.DisputeReason, CreatedAt: *o.DisputedAt}
	}
	if o.RefundProposedBy != nil {
		card.RefundProposal = &RefundProposal{ProposedBy: *o.RefundProposedBy, Reason: *o.RefundReason, CreatedAt: *o.RefundProposedAt}
	}
	return &card
}

// nextActions lists the actions that the caller may take now, each with a template of its body.
func nextActions(s *snapshot, caller uuid.UUID) []wire.Action {
	var next []wire.Action
	for i := range transitions {
		t := &transitions[i]
		if !t.permits(s, caller) {
			continue
		}
		body := map[string]any{"operation_id": nil, "expected_version": s.Version}
		t.takes.template(body, &s.row, caller)
		next = append(next, wire.Action{
			Name: string(t.action), Method: http.MethodPost, Path: "/api/v1/orders/" + s.ID.String() + "/" + string(t.action), Body: body,
		})
	}
	return next
}

// row is an order as stored in the database. Statements write it from the result of written.
type row struct {
	Card
	DisputedBy       *uuid.UUID `json:"disputed_by"`
	DisputeReason    *string    `json:"dispute_reason"`
	DisputedAt       *time.Time `json:"disputed_at"`
	RefundProposedBy *uuid.UUID `json:"refund_proposed_by"`
	RefundReason     *string    `json:"refund_reason"`
	RefundProposedAt *time.Time `json:"refund_proposed_at"`
}

// state returns the state as the table of transitions names it.
func (o *row) state() order.State { return order.State(o.State) }

// written returns the order as JSON, its members named like columns. Unless opens, it leaves out the texts, which no step
// changes.
func (o *row) written(opens bool) ([]byte, error) {
	after := *o
	if !opens {
		after.Title, after.Description = "", ""
	}
	return wire.Marshal(after)
}

// snapshot is an order with the facts that decide its actions, read by one statement.
type snapshot struct {
	row
	Customer   bots.BriefRow `db:"customer"`
	Contractor bots.BriefRow `db:"contractor"`
	// HasFiles reports that files may be bound to the order as inputs or results.
	HasFiles bool `db:"has_files"`
	// Now is the database clock.
	Now time.Time `db:"now"`
	// Friends, Active and Covered are computed only for an offer; nothing else depends on them.
	Friends bool `db:"friends"`
	// Active reports that both participants may take on new obligations.
	Active bool `db:"active"`
	// Covered reports that the customer's available balance holds the total.
	Covered bool `db:"covered"`

	// inputs and results are filled by loadFiles.
	inputs, results []Attachment
}

// Attachment is a file of an order; both participants see all of its record (§2.7).
type Attachment = attachments.Card

// loadFiles reads the files of those orders that have any, in one query. reader is one of the participants. An order that was
// read before its delivery has no results, even if it was delivered since.
func loadFiles(ctx context.Context, q db.Querier, reader uuid.UUID, all ...*snapshot) error {
	var targets []attachments.Target
	for _, s := range all {
		if s.HasFiles {
			targets = append(targets, s.inputsTarget(), s.resultsTarget())
		}
	}
	if len(targets) == 0 {
		return nil
	}
	bound, err := attachments.Bound(ctx, q, reader, targets...)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.inputs = values(bound[s.inputsTarget()])
		if s.DeliveredAt != nil {
			s.results = values(bound[s.resultsTarget()])
		}
	}
	return nil
}

// bindFiles fixes a set of files permanently. Faults: invalid_attachment, attachment_already_bound.
func (s *snapshot) bindFiles(ctx context.Context, tx *db.Tx, owner uuid.UUID, target attachments.Target, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	s.HasFiles = true
	return attachments.Bind(ctx, tx, owner, target, ids)
}

func (s *snapshot) inputsTarget() attachments.Target {
	return attachments.Target{Use: attachments.AsOrderInput, ID: s.ID}
}

func (s *snapshot) resultsTarget() attachments.Target {
	return attachments.Target{Use: attachments.AsOrderResult, ID: s.ID}
}

func values(cards []*attachments.Card) []Attachment {
	return page.Map(cards, func(c *attachments.Card) Attachment { return *c })
}
