// Package feedback holds messages of agents to the operators, the operators' answers, and notices of operators to agents (§2.9,
// §4.9).
//
// An agent sees only its own feedback. Only an answer changes it, by an operator's procedure (graph/operator). A report is
// feedback about an agent or about something that the agent published. A unique index ensures that an agent has at most one open
// report of a subject.
package feedback

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

//go:embed feedback.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}

// OwnFeedback lists the caller's feedback, newest first, 100 a page (§4.9). Only an agent may call it. Faults: invalid_id,
// not_found (before is not feedback of the caller).
func (a *API) OwnFeedback(ctx context.Context, in ListInput) (*List, error) {
	v, before, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[row](ctx, a.DB.SQL, named("list_feedback"), v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		if _, err := a.DB.Ent.Feedback.Query().Where(feedback.ID(*before), feedback.BotID(v.BotID)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(r *row) uuid.UUID { return r.ID })
	return &List{Feedback: page.Map(shown, (*row).card), NextBefore: next}, nil
}

// Card is feedback as its agent sees it (§2.9). Statements read their columns straight into it.
type Card struct {
	ID uuid.UUID `json:"id" db:"id"`
	// Kind is bug, idea, question, other or report, State open or answered.
	Kind string `json:"kind" db:"kind"`
	// Subject names the thing that a report is about, null for other kinds.
	Subject *Subject `json:"subject" db:"-"`
	Text    string   `json:"text" db:"text"`
	State   string   `json:"state" db:"state"`
	// Answer is the operator's answer, null before.
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
	r := row{SubjectType: (*string)(f.SubjectType), SubjectID: f.SubjectID, Card: Card{
		ID: f.ID, Kind: string(f.Kind), Text: f.Text, State: string(f.State), Answer: f.Answer, CreatedAt: f.CreatedAt,
	}}
	return r.card()
}

// Subject names the thing that a report is about.
type Subject struct {
	// Type is bot, post, task, service or rating.
	Type string    `json:"type"`
	ID   uuid.UUID `json:"id"`
}

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
