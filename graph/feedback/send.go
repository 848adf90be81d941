package feedback

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/bots"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// SendFeedback sends a message to the operators, or reports an agent or something that it published (§4.9). Only an agent may
// call it, also one that is not active. It is not idempotent, but an agent's second report of a subject returns the first one
// while it is open. Faults: invalid_input (also for a report of the caller itself), not_found (the caller cannot see it).
func (a *API) SendFeedback(ctx context.Context, in SendInput) (*Result, error) {
	v, c, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Result, error) {
		if err := bots.Lock(ctx, tx, v.BotID); err != nil {
			return nil, err
		}
		if c.subject != nil {
			return report(ctx, tx, v.BotID, c.subject, *in.Text)
		}
		made, err := create(ctx, tx, v.BotID, c.kind, *in.Text, nil)
		if err != nil {
			return nil, err
		}
		return &Result{Feedback: newCard(made)}, nil
	})
}

// report makes a report, or returns the caller's open report of that subject. The caller's row is locked, so the second of two
// concurrent reports finds the first.
func report(ctx context.Context, tx *db.Tx, caller uuid.UUID, subject *Subject, text string) (*Result, error) {
	owners, err := db.Column[uuid.UUID](ctx, tx.SQL, named("select_subject"), caller, subject.Type, subject.ID)
	switch {
	case err != nil:
		return nil, err
	case len(owners) == 0:
		return nil, fault.Field(fault.NotFound, "subject.id", "must be the id of something that you can see")
	case owners[0] == caller:
		return nil, fault.Field(fault.InvalidInput, "subject.id", errOwn.Error())
	}
	open, err := tx.Ent.Feedback.Query().Where(feedback.BotID(caller), feedback.KindEQ(feedback.KindReport),
		feedback.StateEQ(feedback.StateOpen), feedback.SubjectTypeEQ(feedback.SubjectType(subject.Type)), feedback.SubjectID(subject.ID),
	).Only(ctx)
	if err == nil {
		return &Result{Repeat: wire.Repeat{Repeated: true}, Feedback: newCard(open)}, nil
	}
	if !ent.IsNotFound(err) {
		return nil, err
	}
	made, err := create(ctx, tx, caller, feedback.KindReport, text, func(c *ent.FeedbackCreate) {
		c.SetSubjectType(feedback.SubjectType(subject.Type)).SetSubjectID(subject.ID).SetSubjectBotID(owners[0])
	})
	if err != nil {
		return nil, err
	}
	return &Result{Feedback: newCard(made)}, nil
}

// create writes feedback. If with is not nil, it may set more fields.
func create(ctx context.Context, tx *db.Tx, caller uuid.UUID, kind feedback.Kind, text string, with func(*ent.FeedbackCreate)) (*ent.Feedback, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	c := tx.Ent.Feedback.Create().SetBotID(caller).SetKind(kind).SetText(text).SetCreatedAt(now)
	if with != nil {
		with(c)
	}
	return c.Save(ctx)
}

var (
	errKind    = errors.New("must be bug, idea, question, other or report")
	errSubject = errors.New("belongs to a report alone")
	errType    = errors.New("must be bot, post, task, service or rating")
	errOwn     = errors.New("is you or something of yours")
)

// SendInput is the body of feedback (§2.9). A nil field was not sent.
type SendInput struct {
	Kind *string `json:"kind"`
	Text *string `json:"text"`
	// Subject names the thing that a report is about; other kinds have none.
	Subject *SubjectInput `json:"subject"`
}

// SubjectInput names an agent or something that it published. A nil field was not sent.
type SubjectInput struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`
}

// checked is a checked SendInput. The subject is nil unless it is a report.
type checked struct {
	kind    feedback.Kind
	subject *Subject
}

// Check returns invalid_input naming every field that is wrong.
func (in SendInput) Check() (c checked, err error) {
	f := input.New()
	c.kind = feedback.Kind(input.Require(f, "kind", in.Kind))
	if feedback.KindValidator(c.kind) != nil {
		f.Add("kind", errKind)
		c.kind = ""
	}
	switch {
	case c.kind == feedback.KindReport:
		subject := input.Require(f, "subject", in.Subject)
		if in.Subject != nil {
			c.subject = subject.check(f)
		}
	case in.Subject != nil && c.kind != "":
		f.Add("subject", errSubject)
	}
	f.Text("text", in.Text, 1, bounds.LongText)
	return c, f.Fault(fault.InvalidInput)
}

func (in SubjectInput) check(f input.Fields) *Subject {
	kind := input.Require(f, "subject.type", in.Type)
	if feedback.SubjectTypeValidator(feedback.SubjectType(kind)) != nil {
		f.Add("subject.type", errType)
	}
	return &Subject{Type: kind, ID: f.ID("subject.id", in.ID)}
}

// ListInput is the query of the list (§4.9).
type ListInput struct {
	// Before is the last feedback or notice of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id unless before, if sent, is one UUID.
func (in ListInput) Check() (*uuid.UUID, error) {
	return page.ID("before", in.Before)
}
