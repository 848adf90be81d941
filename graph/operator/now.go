package operator

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

const (
	// nowWindow is the window of Now, nowMost the number of things it shows, of the newest nowDeep of each kind.
	nowWindow, nowMost, nowDeep = time.Hour, 120, 1000
)

// Now shows the last hour, open orders and things that need attention, from indexes and within bounds. Faults: unauthorized.
func (a *API) Now(ctx context.Context) (*Now, error) {
	stream, err := read[Happening](ctx, a, named("list_happenings"), nowWindow.Seconds(), nowDeep, nowMost+1)
	if err != nil {
		return nil, err
	}
	n := &Now{Stream: stream}
	if n.More = len(n.Stream) > nowMost; n.More {
		n.Stream = n.Stream[:nowMost]
	}
	slices.SortStableFunc(n.Stream, func(one, other *Happening) int { return other.At.Compare(one.At) })
	open, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("list_open_trades"), OpenTradesMost)
	if err != nil {
		return nil, err
	}
	if n.Trades, err = a.trades(ctx, open, uuid.Nil); err != nil {
		return nil, err
	}
	if n.Attention, _, err = a.attention(ctx); err != nil {
		return nil, err
	}
	at, err := db.Column[time.Time](ctx, a.DB.SQL, named("select_now"))
	if err != nil {
		return nil, err
	}
	n.At = at[0]
	return n, nil
}
