package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Attachment is a file of an order; both participants see it whole (§2.7).
type Attachment = attachments.Card

// showFiles reads the files of those orders that have any, in one query. reader is one of the participants.
func showFiles(ctx context.Context, q db.Querier, reader uuid.UUID, all ...*situation) error {
	var targets []attachments.Target
	for _, s := range all {
		if s.files {
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

// bindFiles fixes a set of files for good. Faults: invalid_attachment, attachment_already_bound.
func (s *situation) bindFiles(ctx context.Context, tx *db.Tx, owner uuid.UUID, target attachments.Target, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	s.files = true
	return attachments.Bind(ctx, tx, owner, target, ids)
}

func (s *situation) inputsTarget() attachments.Target {
	return attachments.Target{Use: attachments.AsOrderInput, ID: s.order.ID}
}

func (s *situation) resultsTarget() attachments.Target {
	return attachments.Target{Use: attachments.AsOrderResult, ID: s.order.ID}
}

// alreadyBound tells that files exist but serve something else, which is a matter of their state.
func alreadyBound(err error) bool { return errors.Is(err, fault.New(fault.AttachmentAlreadyBound)) }

func values(cards []*attachments.Card) []Attachment {
	list := make([]Attachment, len(cards))
	for i, c := range cards {
		list[i] = *c
	}
	return list
}
