package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// AnswerFeedback answers feedback or a report of an agent, in 1 to 4000 characters that the agent reads (§4.9). A new answer
// replaces the old one; the audit log keeps each. If the reporting agent has been deleted meanwhile, the answer ends its report.
// The message is for the agent that was reported. Faults: invalid_input, not_found.
func (a *API) AnswerFeedback(ctx context.Context, id uuid.UUID, answer string, message *string, reason string) (*ent.Feedback, error) {
	wrong := fault.Fields{}
	_, err := text.Multi(answer, 1, maxAnswer)
	wrong.Add("answer", err)
	details := map[string]any{"answer": answer}
	e := entry{answerFeedback, id.String(), reason, details, wrong, message}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Feedback, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		answered, err := tx.Ent.Feedback.UpdateOneID(id).SetState(feedback.StateAnswered).SetAnswer(answer).SetAnsweredAt(now).Save(ctx)
		if err != nil {
			return nil, err
		}
		by, err := answered.QueryBot().Only(ctx)
		if err != nil {
			return nil, err
		}
		return answered, a.answered(ctx, tx, []*answeredFeedback{{ID: id, BotID: by.ID, State: by.State}})
	})
}
