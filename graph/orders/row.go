package orders

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent/order"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// row is an order as the database keeps it. Statements read it by the db tags, and write it from what written returns.
type row struct {
	ID                  uuid.UUID      `db:"id"`
	CreatedAt           time.Time      `db:"created_at"`
	UpdatedAt           time.Time      `db:"updated_at"`
	CustomerID          uuid.UUID      `db:"customer_id"`
	ContractorID        uuid.UUID      `db:"contractor_id"`
	AuthorID            uuid.UUID      `db:"author_id"`
	TaskID              *uuid.UUID     `db:"task_id"`
	ServiceID           *uuid.UUID     `db:"service_id"`
	State               order.State    `db:"state"`
	Version             int            `db:"version"`
	Outcome             *order.Outcome `db:"outcome"`
	Title               string         `db:"title"`
	Description         string         `db:"description"`
	Deadline            time.Time      `db:"deadline"`
	AmountMinor         int64          `db:"amount_minor"`
	FeeMinor            int64          `db:"fee_minor"`
	TotalMinor          int64          `db:"total_minor"`
	FeeBps              int64          `db:"fee_bps"`
	ConfirmedTotalMinor *int64         `db:"confirmed_total_minor"`
	ResultText          *string        `db:"result_text"`
	DisputedBy          *uuid.UUID     `db:"disputed_by"`
	DisputeReason       *string        `db:"dispute_reason"`
	DisputedAt          *time.Time     `db:"disputed_at"`
	RefundProposedBy    *uuid.UUID     `db:"refund_proposed_by"`
	RefundReason        *string        `db:"refund_reason"`
	RefundProposedAt    *time.Time     `db:"refund_proposed_at"`
	FundedAt            *time.Time     `db:"funded_at"`
	DeliveredAt         *time.Time     `db:"delivered_at"`
	ClosedAt            *time.Time     `db:"closed_at"`
}

// written is the order as JSON, its members named as columns: for open_order all of them, for step_order those that a step can change
// and those by which it finds the order and its participants.
func (o *row) written(opens bool) ([]byte, error) {
	w := wire.NewObject(nil)
	w.UUID("id", o.ID)
	w.UUID("customer_id", o.CustomerID)
	w.UUID("contractor_id", o.ContractorID)
	if opens {
		w.Time("created_at", o.CreatedAt)
		w.UUID("author_id", o.AuthorID)
		w.UUIDOrNull("task_id", o.TaskID)
		w.UUIDOrNull("service_id", o.ServiceID)
		w.String("title", o.Title)
		w.String("description", o.Description)
		w.Time("deadline", o.Deadline)
		w.Int("amount_minor", o.AmountMinor)
		w.Int("fee_minor", o.FeeMinor)
		w.Int("total_minor", o.TotalMinor)
		w.Int("fee_bps", o.FeeBps)
	}
	w.Time("updated_at", o.UpdatedAt)
	w.String("state", string(o.State))
	w.Int("version", int64(o.Version))
	w.IntOrNull("confirmed_total_minor", o.ConfirmedTotalMinor)
	w.TimeOrNull("funded_at", o.FundedAt)
	if !opens {
		w.StringOrNull("outcome", (*string)(o.Outcome))
		w.StringOrNull("result_text", o.ResultText)
		w.UUIDOrNull("disputed_by", o.DisputedBy)
		w.StringOrNull("dispute_reason", o.DisputeReason)
		w.TimeOrNull("disputed_at", o.DisputedAt)
		w.UUIDOrNull("refund_proposed_by", o.RefundProposedBy)
		w.StringOrNull("refund_reason", o.RefundReason)
		w.TimeOrNull("refund_proposed_at", o.RefundProposedAt)
		w.TimeOrNull("delivered_at", o.DeliveredAt)
		w.TimeOrNull("closed_at", o.ClosedAt)
	}
	return w.End()
}

// snapshot is an order with everything that decides about its actions, read by one statement.
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

// Attachment is a file of an order; both participants see it whole (§2.7).
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

// alreadyBound reports that the files exist but serve something else; friendship and activity are checked before that.
func alreadyBound(err error) bool { return errors.Is(err, fault.New(fault.AttachmentAlreadyBound)) }

func values(cards []*attachments.Card) []Attachment {
	list := make([]Attachment, len(cards))
	for i, c := range cards {
		list[i] = *c
	}
	return list
}
