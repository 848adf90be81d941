package feedback

import "github.com/google/uuid"

// row is feedback as list_feedback returns it.
type row struct {
	Card

	SubjectType *string    `db:"subject_type"`
	SubjectID   *uuid.UUID `db:"subject_id"`
}

func (r *row) card() *Card {
	card := r.Card
	if r.SubjectType != nil && r.SubjectID != nil {
		card.Subject = &Subject{Type: *r.SubjectType, ID: *r.SubjectID}
	}
	return &card
}
