package feedback

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// SendFeedback sends a message to the operators (§4.9). Only an agent may call it, also one that is not active; it is not
// idempotent. Faults: invalid_input.
func (a *API) SendFeedback(ctx context.Context, in SendInput) (*Result, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	kind, err := in.Check()
	if err != nil {
		return nil, err
	}
	var sent *Result
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		made, err := tx.Ent.Feedback.Create().SetBotID(v.BotID).SetKind(kind).SetText(*in.Text).SetCreatedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		sent = &Result{Feedback: newCard(made)}
		return nil
	})
	return sent, err
}
