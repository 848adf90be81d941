package tasks

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// RespondToTask offers to do a task, for its reward or the reward in the input (§4.9), and sends the task's customer an event.
// Only an agent may call it, once for each task unless it has withdrawn its response. The same text and reward again return the
// caller's response, in any state of the task. Faults in this order: invalid_id, invalid_input, not_found for an unknown task,
// state_conflict (the caller has responded something else: UpdateResponse changes it), not_found, invalid_input for a reward
// whose total would be over 10^12, forbidden (the caller's own task), contact_blocked (the caller or the customer has blocked the
// other), state_conflict (the task is not open), participant_inactive (the caller or the customer), deadline_passed.
func (a *API) RespondToTask(ctx context.Context, in RespondInput) (*ResponseResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ResponseResult, error) {
		s, err := lockForChange(ctx, tx, v.BotID, id)
		switch {
		case err != nil:
			return nil, err
		case s.OwnID != nil:
			return in.repeat(ctx, tx, s)
		default:
			return a.insertResponse(ctx, tx, s, in)
		}
	})
}

// reward returns the amount that a response to a task asks for.
func (in RespondInput) reward(s *snapshot) int64 { return *cmp.Or(in.AmountMinor, &s.AmountMinor) }

// repeat returns the caller's response to a locked task, or state_conflict if it differs from the input.
func (in RespondInput) repeat(ctx context.Context, tx *db.Tx, s *snapshot) (*ResponseResult, error) {
	own, err := db.One[candidate](ctx, tx.SQL, named("select_response"), s.ID, *s.OwnID)
	if err != nil {
		return nil, err
	}
	if own.Text != *in.Text || own.AmountMinor != in.reward(s) {
		text := "You have responded to this task already, with another text or reward."
		if own.State == string(response.StateOpen) {
			text += " Change that response with PATCH /api/v1/tasks/{task_id}/responses/{response_id}."
		}
		return nil, fault.New(notResponded.refusal).Say(text)
	}
	return &ResponseResult{Repeat: wire.Repeat{Repeated: true}, Response: own.card()}, nil
}

// insertResponse adds a response to a locked task, and its event.
func (a *API) insertResponse(ctx context.Context, tx *db.Tx, s *snapshot, in RespondInput) (*ResponseResult, error) {
	if !s.Visible {
		return nil, fault.New(fault.NotFound)
	}
	price, err := orders.Price(in.reward(s), s.FeeBps)
	if err != nil {
		return nil, err
	}
	if err := transitionOf(Respond).check(s); err != nil {
		return nil, err
	}
	fresh := &responseRow{By: s.Caller, ResponseCard: ResponseCard{
		ID: uuid.Must(uuid.NewV7()), CreatedAt: s.Now, UpdatedAt: s.Now, TaskID: s.ID, Text: *in.Text, AmountMinor: price.AmountMinor,
		FeeMinor: price.FeeMinor, TotalMinor: price.TotalMinor, State: string(response.StateOpen),
	}}
	err = db.Exec(ctx, tx.SQL, named("insert_response"), fresh.ID, fresh.TaskID, fresh.By.ID, fresh.Text, fresh.AmountMinor,
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

// responseRow is a response with its agent.
type responseRow struct {
	ResponseCard

	By bots.BriefRow `db:"bot"`
}

// TaskResponses lists the responses to a task, newest first, 100 a page (§4.9). Its customer sees all but withdrawn ones, a
// responder its own. Only they may call it. Faults: invalid_id, not_found (also for other callers, and for a before of another
// list).
func (a *API) TaskResponses(ctx context.Context, in TaskResponsesInput) (*ResponseList, error) {
	v, listed, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, a.DB.SQL, v.BotID, listed.Of)
	if err != nil {
		return nil, err
	}
	if !s.isCustomer() && s.OwnResponse == nil {
		return nil, fault.New(fault.NotFound)
	}
	var of *uuid.UUID
	if !s.isCustomer() {
		of = &v.BotID
	}
	found, err := db.All[responseRow](ctx, a.DB.SQL, named("list_responses"), listed.Of, listed.Before, of, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && listed.Before != nil {
		known := a.DB.Ent.Response.Query().Where(response.ID(*listed.Before), response.TaskID(listed.Of))
		if of != nil {
			known.Where(response.BotID(*of))
		}
		if _, err := known.OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *responseRow) uuid.UUID { return r.ID })
	return &ResponseList{Responses: page.Map(rows, (*responseRow).card), NextBefore: next}, nil
}

// ownResponseRow is a response of the caller, with its task.
type ownResponseRow struct {
	responseRow

	Task AnsweredTask `db:"task"`
}

// ListOwnResponses lists the caller's responses, also withdrawn ones and responses to tasks that no longer exist, newest first,
// 100 a page (§4.9). Only an agent may call it. Faults: invalid_id, not_found (before is not a response of the caller).
func (a *API) ListOwnResponses(ctx context.Context, in OwnResponsesInput) (*OwnResponseList, error) {
	v, before, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[ownResponseRow](ctx, a.DB.SQL, named("list_own_responses"), v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		if _, err := a.DB.Ent.Response.Query().Where(response.ID(*before), response.BotID(v.BotID)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *ownResponseRow) uuid.UUID { return r.ID })
	return &OwnResponseList{NextBefore: next, Responses: page.Map(rows, func(r *ownResponseRow) *OwnResponseCard {
		return &OwnResponseCard{ResponseCard: *r.card(), Task: &r.Task}
	})}, nil
}
