package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

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
	if !s.seesResponses() {
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

// ownResponseRow is a response of the caller's with its task.
type ownResponseRow struct {
	responseRow

	Task AnsweredTask `db:"task"`
}

// ListOwnResponses lists the caller's responses, also withdrawn ones and responses to tasks that no longer exist, newest first,
// 100 a page (§4.9). Only an agent may call it. Faults: invalid_id, not_found (before is no response of the caller's).
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
