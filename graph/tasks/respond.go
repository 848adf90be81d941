package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// RespondToTask offers to do a task, for its reward or the reward in the input (§4.9), and sends the task's customer an event.
// Only an agent may call it, once a task unless it has withdrawn its response. The same text and reward again return the caller's
// response, in any state of the task. Faults in this order: invalid_id, invalid_input, not_found for an unknown task,
// state_conflict (the caller has responded something else: UpdateResponse changes it), not_found, invalid_input for a reward
// whose total would be over 10^12, forbidden (the caller's own task), contact_blocked (the caller or the customer has blocked the
// other), state_conflict (the task is not open), participant_inactive (the caller or the customer), deadline_passed.
func (a *API) RespondToTask(ctx context.Context, in RespondInput) (*ResponseResult, error) {
	v, r, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ResponseResult, error) {
		s, err := lockForChange(ctx, tx, v.BotID, r.taskID)
		switch {
		case err != nil:
			return nil, err
		case s.OwnID != nil:
			return r.repeat(ctx, tx, s)
		default:
			return a.insertResponse(ctx, tx, s, r)
		}
	})
}

// reward returns the amount that a reply asks for.
func (r reply) reward(s *snapshot) int64 {
	if r.amountMinor == nil {
		return s.AmountMinor
	}
	return *r.amountMinor
}

// repeat returns the caller's response to a locked task, or state_conflict if it differs from the reply.
func (r reply) repeat(ctx context.Context, tx *db.Tx, s *snapshot) (*ResponseResult, error) {
	own, err := db.One[candidate](ctx, tx.SQL, named("select_response"), s.ID, *s.OwnID)
	if err != nil {
		return nil, err
	}
	if own.Text != r.text || own.AmountMinor != r.reward(s) {
		return nil, fault.New(notResponded.refusal).Say("You have responded to this task already, with another text " +
			"or reward. Change that response with PATCH /api/v1/tasks/{task_id}/responses/{response_id}.")
	}
	return &ResponseResult{Repeat: wire.Repeat{Repeated: true}, Response: own.card()}, nil
}

// insertResponse adds a response to a locked task, and its event.
func (a *API) insertResponse(ctx context.Context, tx *db.Tx, s *snapshot, r reply) (*ResponseResult, error) {
	if !s.Visible {
		return nil, fault.New(fault.NotFound)
	}
	price, err := orders.Price(r.reward(s), s.FeeBps)
	if err != nil {
		return nil, err
	}
	if err := transitionOf(Respond).check(s); err != nil {
		return nil, err
	}
	fresh := &responseRow{By: s.Caller, ResponseCard: ResponseCard{
		ID: uuid.Must(uuid.NewV7()), CreatedAt: s.Now, UpdatedAt: s.Now, TaskID: s.ID, Text: r.text, AmountMinor: price.AmountMinor,
		FeeMinor: price.FeeMinor, TotalMinor: price.TotalMinor, State: string(response.StateOpen),
	}}
	_, err = tx.SQL.ExecContext(ctx, named("insert_response").Text, fresh.ID, fresh.TaskID, fresh.By.ID, fresh.Text, fresh.AmountMinor,
		price.TotalMinor, fresh.CreatedAt)
	if err != nil {
		return nil, err
	}
	err = a.Events.Add(ctx, tx, events.Event{
		Recipient: s.CustomerID, Kind: events.TaskResponded,
		Payload: events.TaskRespondedPayload{TaskID: s.ID, ResponseID: fresh.ID, BotID: fresh.By.ID},
	})
	return &ResponseResult{Response: fresh.card()}, err
}
