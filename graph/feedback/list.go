package feedback

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// mine is a page of the feedback of $1, newest first, from that before $2 on or from the newest. It is empty where $2 is not the
// agent's own.
const mine = `
WITH start AS (
  SELECT created_at, id FROM feedbacks WHERE id = $2::uuid AND bot_id = $1
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE $2::uuid IS NULL
)
SELECT f.id, f.kind, f.text, f.state, f.answer, f.created_at
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM feedbacks r WHERE r.bot_id = $1 AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT $3
) f
ORDER BY f.created_at DESC, f.id DESC`

// OwnFeedback lists the caller's feedback, newest first, 100 a page (§4.9). Only an agent may call it. Faults: invalid_id, not_found
// (before is not feedback of the caller).
func (a *API) OwnFeedback(ctx context.Context, in ListInput) (*List, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	before, err := in.Check()
	if err != nil {
		return nil, err
	}
	rows, err := a.DB.SQL.QueryContext(ctx, mine, v.BotID, before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	found, err := scan(rows)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before != nil {
		known, err := a.DB.Ent.Feedback.Query().Where(feedback.ID(*before), feedback.BotID(v.BotID)).Exist(ctx)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fault.New(fault.NotFound)
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(c *Card) uuid.UUID { return c.ID })
	return &List{Feedback: shown, NextBefore: next}, nil
}

func scan(rows *sql.Rows) ([]*Card, error) {
	defer rows.Close()
	found := []*Card{}
	for rows.Next() {
		f := new(ent.Feedback)
		if err := rows.Scan(&f.ID, &f.Kind, &f.Text, &f.State, &f.Answer, &f.CreatedAt); err != nil {
			return nil, err
		}
		found = append(found, newCard(f))
	}
	return found, rows.Err()
}
