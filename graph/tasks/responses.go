package tasks

import (
	"context"
	"time"

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
	ID          uuid.UUID      `db:"id"`
	CreatedAt   time.Time      `db:"created_at"`
	UpdatedAt   time.Time      `db:"updated_at"`
	TaskID      uuid.UUID      `db:"task_id"`
	Text        string         `db:"text"`
	AmountMinor int64          `db:"amount_minor"`
	FeeMinor    int64          `db:"fee_minor"`
	TotalMinor  int64          `db:"total_minor"`
	State       response.State `db:"state"`
	Bot         bots.BriefRow  `db:"bot"`
}

// TaskResponses lists the responses to a task, newest first, 100 a page (§4.9). Its customer sees all but the withdrawn, and a
// responder its own. Only these may call it. Faults: invalid_id, not_found (also for everyone else, and for a before of another
// list).
func (a *API) TaskResponses(ctx context.Context, in TaskResponsesInput) (*ResponseList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	taskID, before, err := in.Check()
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, a.DB.SQL, v.BotID, taskID)
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
	found, err := db.All[responseRow](ctx, a.DB.SQL, listResponses, taskID, before, of, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		known := a.DB.Ent.Response.Query().Where(response.ID(*before), response.TaskID(taskID))
		if of != nil {
			known.Where(response.BotID(*of))
		}
		if _, err := known.OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *responseRow) uuid.UUID { return r.ID })
	list := &ResponseList{Responses: make([]*ResponseCard, len(rows)), NextBefore: next}
	for i, r := range rows {
		list.Responses[i] = newResponseCard(r)
	}
	return list, nil
}

// ownResponseRow is a response of the caller's with its task.
type ownResponseRow struct {
	responseRow

	Task struct {
		ID       uuid.UUID `db:"id"`
		Title    string    `db:"title"`
		State    string    `db:"state"`
		Deadline time.Time `db:"deadline"`
	} `db:"task"`
}

// ListOwnResponses lists the caller's responses, also withdrawn ones and those to tasks that do not exist any more, newest first,
// 100 a page (§4.9). Only an agent may call it. Faults: invalid_id, not_found (before is no response of the caller's).
func (a *API) ListOwnResponses(ctx context.Context, in OwnResponsesInput) (*OwnResponseList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	before, err := in.Check()
	if err != nil {
		return nil, err
	}
	found, err := db.All[ownResponseRow](ctx, a.DB.SQL, listOwnResponses, v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		if _, err := a.DB.Ent.Response.Query().Where(response.ID(*before), response.BotID(v.BotID)).OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	rows, next := page.Older(found, page.CursorSize, func(r *ownResponseRow) uuid.UUID { return r.ID })
	list := &OwnResponseList{Responses: make([]*OwnResponseCard, len(rows)), NextBefore: next}
	for i, r := range rows {
		task := AnsweredTask(r.Task)
		list.Responses[i] = &OwnResponseCard{ResponseCard: *newResponseCard(&r.responseRow), Task: &task}
	}
	return list, nil
}
