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
	TaskID      uuid.UUID      `db:"task_id"`
	Text        string         `db:"text"`
	AmountMinor int64          `db:"amount_minor"`
	State       response.State `db:"state"`
	Bot         bots.BriefRow  `db:"bot"`
}

// TaskResponses lists the responses to a task, newest first, 100 a page (§4.9). Its customer sees all of them and a responder its
// own; for every other agent the list is empty. Only an agent may call it. Faults: invalid_id, not_found (also for a before that
// the caller does not see).
func (a *API) TaskResponses(ctx context.Context, in TaskResponsesInput) (*ResponseList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	taskID, before, err := in.Check()
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, a.DB.SQL, &v.BotID, taskID)
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
