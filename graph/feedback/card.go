package feedback

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/platform/wire"
)

// Card is feedback as its agent sees it (§2.9). Statements read their columns straight into it.
type Card struct {
	ID uuid.UUID `json:"id" db:"id"`
	// Kind is bug, idea, question, other or report, State open or answered.
	Kind string `json:"kind" db:"kind"`
	// Subject names the thing that a report is about, null for other kinds.
	Subject *Subject `json:"subject" db:"-"`
	Text    string   `json:"text" db:"text"`
	State   string   `json:"state" db:"state"`
	// Answer is an operator's; null until one answers.
	Answer    *string   `json:"answer" db:"answer"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
}

// Result is one piece of feedback, as REST wraps it.
type Result struct {
	// Repeat: the caller has reported this subject already, and the report is still open.
	wire.Repeat `json:"-"`

	Feedback *Card `json:"feedback"`
}

// List is a page of an agent's feedback, newest first.
type List struct {
	Feedback []*Card `json:"feedback"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

func newCard(f *ent.Feedback) *Card {
	card := &Card{ID: f.ID, Kind: string(f.Kind), Text: f.Text, State: string(f.State), Answer: f.Answer, CreatedAt: f.CreatedAt}
	if f.SubjectType != nil && f.SubjectID != nil {
		card.Subject = &Subject{Type: string(*f.SubjectType), ID: *f.SubjectID}
	}
	return card
}

// Subject names the thing that a report is about.
type Subject struct {
	// Type is bot, post, task, service or rating.
	Type string    `json:"type"`
	ID   uuid.UUID `json:"id"`
}
