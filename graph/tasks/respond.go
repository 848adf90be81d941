package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// answer is what the agent $1 has responded to the task $2, beside the agent itself.
var answer = `
SELECT ` + responder + `, r.id, r.text, r.amount_minor, r.state, r.created_at
FROM bots b LEFT JOIN responses r ON r.bot_id = b.id AND r.task_id = $2 WHERE b.id = $1`

const insertResponse = `
WITH counted AS (UPDATE tasks SET response_count = response_count + 1, updated_at = $2 WHERE id = $3)
INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, state) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// RespondToTask offers to do a task, for the reward that it names or for another one (§4.9). Only an agent may call it, once a task;
// the same text and reward again return the response that there is, whatever has become of the task. Faults in this order:
// invalid_id, invalid_input, not_found for an unknown task, idempotency_conflict (the caller has responded something else),
// not_found, invalid_input for a reward whose total would be over 10^12, forbidden (one's own task), state_conflict (the task is
// not open), participant_inactive (the caller or the customer), deadline_passed.
func (a *API) RespondToTask(ctx context.Context, in RespondInput) (*ResponseResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	r, err := in.Check()
	if err != nil {
		return nil, err
	}
	var made *ResponseResult
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		s, shown, err := locked(ctx, tx, v.BotID, r.taskID)
		if err != nil {
			return err
		}
		amount := s.task.AmountMinor
		if r.amountMinor != nil {
			amount = *r.amountMinor
		}
		kept, by, err := findResponse(ctx, tx, v.BotID, r.taskID)
		if err != nil {
			return err
		}
		if kept != nil {
			if kept.Text != r.text || kept.AmountMinor != amount {
				return fault.New(unanswered.refusal)
			}
			made = &ResponseResult{Repeat: wire.Repeat{Repeated: true}, Response: newResponseCard(kept, by)}
			return nil
		}
		if !shown {
			return fault.New(fault.NotFound)
		}
		if _, err := orders.Price(amount, s.task.FeeBps); err != nil {
			return err
		}
		if err := find(Respond).refuse(s); err != nil {
			return err
		}
		fresh := &ent.Response{
			ID: uuid.Must(uuid.NewV7()), CreatedAt: s.now, TaskID: r.taskID, BotID: v.BotID, Text: r.text, AmountMinor: amount, State: response.StateOpen,
		}
		made = &ResponseResult{Response: newResponseCard(fresh, by)}
		_, err = tx.SQL.ExecContext(ctx, insertResponse, fresh.ID, fresh.CreatedAt, fresh.TaskID, fresh.BotID, fresh.Text, fresh.AmountMinor, fresh.State)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// findResponse returns what an agent has responded to a locked task, nil where nothing, and the agent.
func findResponse(ctx context.Context, tx *db.Tx, agentID, taskID uuid.UUID) (*ent.Response, *bots.BriefRow, error) {
	var (
		by     bots.BriefRow
		id     *uuid.UUID
		text   *string
		amount *int64
		state  *response.State
		at     *time.Time
	)
	err := tx.SQL.QueryRowContext(ctx, answer, agentID, taskID).Scan(append(by.Targets(), &id, &text, &amount, &state, &at)...)
	if err != nil || id == nil {
		return nil, &by, err
	}
	return &ent.Response{ID: *id, CreatedAt: *at, TaskID: taskID, BotID: agentID, Text: *text, AmountMinor: *amount, State: *state}, &by, nil
}
