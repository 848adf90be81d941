package orders

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// feeMode means that the fee is added to the contractor's reward (§2.6).
const feeMode = "on_top"

// Card is an order as one of its two participants sees it (§2.6). Amounts are in minor units.
type Card struct {
	ID uuid.UUID `json:"id"`
	// State is one of the eight states of §3.1.
	State string `json:"state"`
	// Version counts from 1; every operation adds 1 and expects the one it read.
	Version     int       `json:"version"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Deadline    time.Time `json:"deadline"`
	// AmountMinor is the contractor's reward, TotalMinor the price for the customer.
	AmountMinor       int64        `json:"amount_minor"`
	FeeMinor          int64        `json:"fee_minor"`
	TotalMinor        int64        `json:"total_minor"`
	FeeMode           string       `json:"fee_mode"`
	FeeBps            int64        `json:"fee_bps"`
	InputAttachments  []Attachment `json:"input_attachments"`
	ResultAttachments []Attachment `json:"result_attachments"`
	// Outcome is accepted or refunded, null until the order is closed.
	Outcome      *string     `json:"outcome"`
	CustomerID   uuid.UUID   `json:"customer_id"`
	ContractorID uuid.UUID   `json:"contractor_id"`
	AuthorID     uuid.UUID   `json:"author_id"`
	Customer     *bots.Brief `json:"customer"`
	Contractor   *bots.Brief `json:"contractor"`
	// Role is the reader's: customer or contractor.
	Role string `json:"role"`
	// ConfirmedTotalMinor is the total that the customer confirmed.
	ConfirmedTotalMinor *int64          `json:"confirmed_total_minor"`
	ResultText          *string         `json:"result_text"`
	Dispute             *DisputeCard    `json:"dispute"`
	RefundProposal      *RefundProposal `json:"refund_proposal"`
	TaskID              *uuid.UUID      `json:"task_id"`
	ServiceID           *uuid.UUID      `json:"service_id"`
	CreatedAt           time.Time       `json:"created_at"`
	UpdatedAt           time.Time       `json:"updated_at"`
	FundedAt            *time.Time      `json:"funded_at"`
	DeliveredAt         *time.Time      `json:"delivered_at"`
	ClosedAt            *time.Time      `json:"closed_at"`
	// Actions are the actions that the reader may take next.
	Actions []wire.Action `json:"actions"`
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
	o := &s.row
	card := &Card{
		ID: o.ID, State: string(o.State), Version: o.Version, Title: o.Title, Description: o.Description, Deadline: o.Deadline,
		AmountMinor: o.AmountMinor, FeeMinor: o.FeeMinor, TotalMinor: o.TotalMinor, FeeMode: feeMode, FeeBps: o.FeeBps,
		CustomerID: o.CustomerID, ContractorID: o.ContractorID, AuthorID: o.AuthorID,
		Customer: s.Customer.Card(), Contractor: s.Contractor.Card(), Role: "customer",
		ConfirmedTotalMinor: o.ConfirmedTotalMinor, ResultText: o.ResultText, TaskID: o.TaskID, ServiceID: o.ServiceID,
		InputAttachments: s.inputs, ResultAttachments: s.results,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, FundedAt: o.FundedAt, DeliveredAt: o.DeliveredAt, ClosedAt: o.ClosedAt,
		Actions: nextActions(s, caller),
	}
	if caller == o.ContractorID {
		card.Role = "contractor"
	}
	if o.Outcome != nil {
		outcome := string(*o.Outcome)
		card.Outcome = &outcome
	}
	if o.DisputedBy != nil {
		card.Dispute = &DisputeCard{OpenedBy: *o.DisputedBy, Reason: *o.DisputeReason, CreatedAt: *o.DisputedAt}
	}
	if o.RefundProposedBy != nil {
		card.RefundProposal = &RefundProposal{ProposedBy: *o.RefundProposedBy, Reason: *o.RefundReason, CreatedAt: *o.RefundProposedAt}
	}
	return card
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

// row is an order as stored in the database. Statements read it by the db tags, and write it from the result of written.
type row struct {
	ID                  uuid.UUID      `db:"id" json:"id"`
	CreatedAt           time.Time      `db:"created_at" json:"created_at"`
	UpdatedAt           time.Time      `db:"updated_at" json:"updated_at"`
	CustomerID          uuid.UUID      `db:"customer_id" json:"customer_id"`
	ContractorID        uuid.UUID      `db:"contractor_id" json:"contractor_id"`
	AuthorID            uuid.UUID      `db:"author_id" json:"author_id"`
	TaskID              *uuid.UUID     `db:"task_id" json:"task_id"`
	ServiceID           *uuid.UUID     `db:"service_id" json:"service_id"`
	State               order.State    `db:"state" json:"state"`
	Version             int            `db:"version" json:"version"`
	Outcome             *order.Outcome `db:"outcome" json:"outcome"`
	Title               string         `db:"title" json:"title"`
	Description         string         `db:"description" json:"description"`
	Deadline            time.Time      `db:"deadline" json:"deadline"`
	AmountMinor         int64          `db:"amount_minor" json:"amount_minor"`
	FeeMinor            int64          `db:"fee_minor" json:"fee_minor"`
	TotalMinor          int64          `db:"total_minor" json:"total_minor"`
	FeeBps              int64          `db:"fee_bps" json:"fee_bps"`
	ConfirmedTotalMinor *int64         `db:"confirmed_total_minor" json:"confirmed_total_minor"`
	ResultText          *string        `db:"result_text" json:"result_text"`
	DisputedBy          *uuid.UUID     `db:"disputed_by" json:"disputed_by"`
	DisputeReason       *string        `db:"dispute_reason" json:"dispute_reason"`
	DisputedAt          *time.Time     `db:"disputed_at" json:"disputed_at"`
	RefundProposedBy    *uuid.UUID     `db:"refund_proposed_by" json:"refund_proposed_by"`
	RefundReason        *string        `db:"refund_reason" json:"refund_reason"`
	RefundProposedAt    *time.Time     `db:"refund_proposed_at" json:"refund_proposed_at"`
	FundedAt            *time.Time     `db:"funded_at" json:"funded_at"`
	DeliveredAt         *time.Time     `db:"delivered_at" json:"delivered_at"`
	ClosedAt            *time.Time     `db:"closed_at" json:"closed_at"`
}

// written returns the order as JSON, its members named like columns. A step leaves out the texts, which it cannot change.
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

// loadFiles reads the files of those orders that have any, in one query. reader is one of the participants.
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
		s.inputs, s.results = values(bound[s.inputsTarget()]), values(bound[s.resultsTarget()])
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

// alreadyBound reports whether the files exist but are bound to another record; friendship and activity are checked before that.
func alreadyBound(err error) bool { return errors.Is(err, fault.New(fault.AttachmentAlreadyBound)) }

func values(cards []*attachments.Card) []Attachment {
	list := make([]Attachment, len(cards))
	for i, c := range cards {
		list[i] = *c
	}
	return list
}
