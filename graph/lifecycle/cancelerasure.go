package lifecycle

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/db"
)

// CancelPage holds the data of the page on which an owner cancels an erasure.
type CancelPage struct {
	// State is open, cancelled, due (it is too late), or unknown; then the other fields are empty.
	State  string    `db:"-"`
	BotID  uuid.UUID `db:"bot_id"`
	Handle string    `db:"handle"`
	DueAt  time.Time `db:"due_at"`

	CancelledAt sql.NullTime `db:"cancelled_at"`
	Due         bool         `db:"due"`
}

// CancelPage returns the data for the link of the mail about an erasure, and changes nothing. Anyone who has the link may call it.
func (a *API) CancelPage(ctx context.Context, id uuid.UUID, token string) (*CancelPage, error) {
	return a.cancelPage(ctx, a.DB.SQL, id, token)
}

func (a *API) cancelPage(ctx context.Context, q db.Querier, id uuid.UUID, token string) (*CancelPage, error) {
	if !a.Email.Follows(email.KeepLink, id, token) {
		return &CancelPage{State: "unknown"}, nil
	}
	found, err := db.One[CancelPage](ctx, q, named("select_by_link"), id)
	if errors.Is(err, sql.ErrNoRows) {
		return &CancelPage{State: "unknown"}, nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case found.CancelledAt.Valid:
		found.State = "cancelled"
	case found.Due:
		found.State = "due"
	default:
		found.State = "open"
	}
	return found, nil
}

// CancelByLink cancels an erasure that the agent or the owner asked for, until it is due. A repeat changes nothing. Anyone who has
// the link may call it.
func (a *API) CancelByLink(ctx context.Context, id uuid.UUID, token string) (found *CancelPage, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if found, err = a.cancelPage(ctx, tx.SQL, id, token); err != nil || found.State != "open" {
			return err
		}
		if err := bots.Lock(ctx, tx, found.BotID); err != nil {
			return err
		}
		if found, err = a.cancelPage(ctx, tx.SQL, id, token); err != nil || found.State != "open" {
			return err
		}
		found.State = "cancelled"
		return a.cancel(ctx, tx, found.BotID)
	})
	return found, err
}
