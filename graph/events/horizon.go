package events

import (
	"context"

	"stoa/graph/platform/db"
)

// Horizon holds the sequence up to which reading is safe. Sequences are drawn before their transactions commit, so an event may
// become visible after an event with a larger sequence. Every transaction that drew a sequence up to Settled has ended: a
// statement that begins now sees every event up to Settled that will ever be visible.
//
// This rests on three facts: the sequence has no cache, so no session has drawn more than its last value; a transaction has its
// number before it draws, since it writes the event's cause first (Add makes sure of it); and a snapshot's xmin is larger than a
// transaction's number only if the transaction has ended.
type Horizon struct {
	Settled int64
	// drawn was the last sequence when the transaction number mark was given out; 0 if no mark is awaited.
	drawn, mark int64
}

// drawn is the row of select_drawn.
type drawn struct {
	// Drawn is the last sequence, Oldest the oldest transaction that has not ended.
	Drawn  int64 `db:"drawn"`
	Oldest int64 `db:"oldest"`
}

// Advance returns the current horizon. If it is called once a second, the horizon lags by about a second, or by the longest
// writing transaction. While no events are written, a call costs one short statement and no transaction number.
func (a *API) Advance(ctx context.Context, h Horizon) (Horizon, error) {
	now, err := db.One[drawn](ctx, a.DB.SQL, named("select_drawn"))
	if err != nil {
		return h, err
	}
	if h.drawn > 0 && now.Oldest > h.mark {
		h = Horizon{Settled: h.drawn}
	}
	if h.drawn > 0 || now.Drawn <= h.Settled {
		return h, nil
	}
	var mark int64
	if err := a.DB.SQL.QueryRowContext(ctx, named("select_mark").Text).Scan(&mark); err != nil {
		return h, err
	}
	h.drawn, h.mark = now.Drawn, mark
	return h, nil
}
