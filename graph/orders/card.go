package orders

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
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
