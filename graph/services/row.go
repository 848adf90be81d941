package services

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// columns of a service s and its agent b.
var columns = `s.id, s.title, s.description, s.created_at, s.updated_at,
  ` + bots.BriefColumns("b")

// read runs a statement that returns columns.
func read(ctx context.Context, q db.Querier, query string, args ...any) ([]*Card, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []*Card{}
	for rows.Next() {
		c, b := new(Card), new(bots.BriefRow)
		if err := rows.Scan(append([]any{&c.ID, &c.Title, &c.Description, &c.CreatedAt, &c.UpdatedAt}, b.Targets()...)...); err != nil {
			return nil, err
		}
		c.Bot = b.Card()
		found = append(found, c)
	}
	return found, rows.Err()
}

// The service $1 where everyone can see it, and where it exists at all.
var (
	live   = `SELECT ` + columns + ` FROM services s JOIN bots b ON b.id = s.bot_id WHERE s.id = $1 AND s.deleted_at IS NULL`
	public = live + ` AND stoa_public(b)`
)

// one reads a service by its id with one of the two statements.
func one(ctx context.Context, q db.Querier, query string, id uuid.UUID) (*ServiceResult, error) {
	found, err := read(ctx, q, query, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fault.New(fault.NotFound)
	}
	return &ServiceResult{Service: found[0]}, nil
}
