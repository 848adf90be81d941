package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// RespondToTask offers to do a task, for the reward that it names or for another one (§4.9). Only an agent may call it, once a
// task; the same text and reward again return the response that there is, whatever has become of the task. Faults in this order:
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
		s, err := lockForChange(ctx, tx, v.BotID, r.taskID)
		if err != nil {
			return err
		}
		amount := s.AmountMinor
		if r.amountMinor != nil {
			amount = *r.amountMinor
		}
		own, err := db.One[ownResponse](ctx, tx.SQL, selectOwnResponse, v.BotID, r.taskID)
		if err != nil {
			return err
		}
		if own.ID != nil {
			if *own.Text != r.text || *own.AmountMinor != amount {
				return fault.New(notResponded.refusal).Say("You have responded to this task already, with another text or reward.")
			}
			made = &ResponseResult{Repeat: wire.Repeat{Repeated: true}, Response: newResponseCard(own.row(r.taskID))}
			return nil
		}
		if !s.Visible {
			return fault.New(fault.NotFound)
		}
		price, err := orders.Price(amount, s.FeeBps)
		if err != nil {
			return err
		}
		if err := transitionOf(Respond).check(s); err != nil {
			return err
		}
		fresh := &responseRow{
			ID: uuid.Must(uuid.NewV7()), CreatedAt: s.Now, TaskID: r.taskID, Text: r.text, AmountMinor: amount,
			State: response.StateOpen, Bot: own.Bot,
		}
		made = &ResponseResult{Response: newResponseCard(fresh)}
		_, err = tx.SQL.ExecContext(ctx, insertResponse.Text, fresh.ID, fresh.TaskID, v.BotID, fresh.Text, amount, price.TotalMinor,
			fresh.CreatedAt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// ownResponse is an agent with its response to a task; the response's fields are nil if the agent has not responded.
type ownResponse struct {
	ID          *uuid.UUID      `db:"id"`
	CreatedAt   *time.Time      `db:"created_at"`
	Text        *string         `db:"text"`
	AmountMinor *int64          `db:"amount_minor"`
	State       *response.State `db:"state"`
	Bot         bots.BriefRow   `db:"bot"`
}

func (o *ownResponse) row(taskID uuid.UUID) *responseRow {
	return &responseRow{
		ID: *o.ID, CreatedAt: *o.CreatedAt, TaskID: taskID, Text: *o.Text, AmountMinor: *o.AmountMinor, State: *o.State, Bot: o.Bot,
	}
}
