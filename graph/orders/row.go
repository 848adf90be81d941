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
