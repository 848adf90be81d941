package feedback

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// SendFeedback sends something to the operators, or reports an agent or something that it published (§4.9). Only an agent may call
// it, also one that is not active. It is not idempotent, but an agent's second report of a subject returns the first one while that
// is open. Faults: invalid_input (also for a report of the caller itself), not_found (the caller cannot see the subject).
func (a *API) SendFeedback(ctx context.Context, in SendInput) (*Result, error) {
	v, c, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*Result, error) {
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

// report makes a report, or returns the caller's open report of that subject. It locks the caller's row, so the second of two
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
	if _, err := tx.SQL.ExecContext(ctx, named("lock_reporter").Text, caller); err != nil {
		return nil, err
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
