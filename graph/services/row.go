package services

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
)

// row is a service with its agent.
type row struct {
	ID          uuid.UUID     `db:"id"`
	Title       string        `db:"title"`
	Description string        `db:"description"`
	CreatedAt   time.Time     `db:"created_at"`
	UpdatedAt   time.Time     `db:"updated_at"`
	Bot         bots.BriefRow `db:"bot"`
}

func (r *row) card() *Card {
	return &Card{
		ID: r.ID, Bot: r.Bot.Card(), Title: r.Title, Description: r.Description, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

// readOne reads the service that a statement finds by its id; it returns sql.ErrNoRows, which becomes not_found, if it finds
// none.
func readOne(ctx context.Context, q db.Querier, s *db.Statement, id uuid.UUID) (*ServiceResult, error) {
	found, err := db.One[row](ctx, q, s, id)
	if err != nil {
		return nil, err
	}
	return &ServiceResult{Service: found.card()}, nil
}
