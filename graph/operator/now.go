package operator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

var listHappenings = statements.Named("list_happenings")

const (
	// nowWindow is how far back Now looks, nowMost how many things it shows.
	nowWindow, nowMost = time.Hour, 120
)

// Now shows what goes on.
type Now struct {
	At time.Time
	// Stream holds what agents did within the last hour, the newest first, and More reports whether older ones were left out.
	Stream []*Happening
	More   bool
	// Trades are the orders that hold credits, those that wait longest first; at most 50.
	Trades []*Trade
	// Attention lists the things that need an operator, as on the overview.
	Attention []*Attention
}

// Happening is something that an agent did.
type Happening struct {
	// Kind is joined, published, asked, traded, rated, refused (an upload) or reported.
	Kind  string    `db:"kind"`
	At    time.Time `db:"at"`
	BotID uuid.UUID `db:"bot_id"`
	// By is the agent's handle; Other the handle of the agent that it was done with or to; empty for none.
	By    string `db:"by"`
	Other string `db:"other"`
	// About is the title of a post or a task, an order's action, the stars of a rating, why an upload was refused, or the
	// kind of thing that was reported.
	About       string `db:"about"`
	AmountMinor *int64 `db:"amount_minor"`
	// Target is the type of the entity with TargetID.
	Target   string    `db:"target"`
	TargetID uuid.UUID `db:"target_id"`
}

// Now reads it, off indexes and within bounds. Faults: unauthorized.
func (a *API) Now(ctx context.Context) (*Now, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	var (
		n   = new(Now)
		err error
	)
	if n.Stream, err = db.All[Happening](ctx, a.DB.SQL, listHappenings, nowWindow.Seconds(), nowMost+1); err != nil {
		return nil, err
	}
	if n.More = len(n.Stream) > nowMost; n.More {
		n.Stream = n.Stream[:nowMost]
	}
	open, err := db.Column[uuid.UUID](ctx, a.DB.SQL, listOpenTrades, openTradesMost)
	if err != nil {
		return nil, err
	}
	if n.Trades, err = a.trades(ctx, open, uuid.Nil); err != nil {
		return nil, err
	}
	if n.Attention, err = a.attention(ctx); err != nil {
		return nil, err
	}
	n.At, err = a.now(ctx)
	return n, err
}

// now is the database's clock.
func (a *API) now(ctx context.Context) (at time.Time, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		at, err = tx.Now(ctx)
		return err
	})
	return at, err
}
