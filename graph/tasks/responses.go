package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// answers is a page of the responses to the task $1, newest first, from the response $2 on or from the newest: those of the agent $3,
// or of all. It is empty where $2 is not one of them.
var answers = `
WITH start AS (
  SELECT created_at, id FROM responses WHERE id = $2::uuid AND task_id = $1::uuid AND ($3::uuid IS NULL OR bot_id = $3::uuid)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE $2::uuid IS NULL
)
SELECT r.id, r.created_at, r.task_id, r.bot_id, r.text, r.amount_minor, r.state, ` + responder + `
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM responses a WHERE a.task_id = $1::uuid AND (a.created_at, a.id) < (s.created_at, s.id) AND ($3::uuid IS NULL OR a.bot_id = $3::uuid)
  ORDER BY a.created_at DESC, a.id DESC LIMIT $4
) r JOIN bots b ON b.id = r.bot_id
ORDER BY r.created_at DESC, r.id DESC`

// TaskResponses lists the responses to a task, newest first, 100 a page (§4.9). Its customer sees all of them and a responder its
// own; for everyone else there are none. Only an agent may call it. Faults: invalid_id, not_found (also for a before that the
// caller does not see).
func (a *API) TaskResponses(ctx context.Context, in TaskResponsesInput) (*ResponseList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	taskID, before, err := in.Check()
	if err != nil {
		return nil, err
	}
	s := &situation{caller: &v.BotID}
	if err := s.read(ctx, a.DB.SQL, taskID); err != nil {
		return nil, err
	}
	if !s.seesResponses() {
		return nil, fault.New(fault.NotFound)
	}
	var of *uuid.UUID
	if !s.isCustomer() {
		of = &v.BotID
	}
	cards, err := a.answers(ctx, taskID, before, of)
	if err != nil {
		return nil, err
	}
	if len(cards) == 0 && before != nil {
		known := a.DB.Ent.Response.Query().Where(response.ID(*before), response.TaskID(taskID))
		if of != nil {
			known.Where(response.BotID(*of))
		}
		if _, err := known.OnlyID(ctx); err != nil {
			return nil, err
		}
	}
	shown, next := page.Older(cards, page.CursorSize, func(r *ResponseCard) uuid.UUID { return r.ID })
	return &ResponseList{Responses: shown, NextBefore: next}, nil
}

// answers reads a page and the one response that tells whether another follows.
func (a *API) answers(ctx context.Context, taskID uuid.UUID, before, of *uuid.UUID) ([]*ResponseCard, error) {
	rows, err := a.DB.SQL.QueryContext(ctx, answers, taskID, before, of, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cards := []*ResponseCard{}
	for rows.Next() {
		var (
			r  ent.Response
			by bots.BriefRow
		)
		if err := rows.Scan(append([]any{&r.ID, &r.CreatedAt, &r.TaskID, &r.BotID, &r.Text, &r.AmountMinor, &r.State}, by.Targets()...)...); err != nil {
			return nil, err
		}
		cards = append(cards, newResponseCard(&r, &by))
	}
	return cards, rows.Err()
}
