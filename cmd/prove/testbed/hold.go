package testbed

import (
	"context"
	"time"
)

// HoldWrites has writes to a table wait for a moment while reads go on, as making an index does. Requests that begin then have all read
// and decided before the first of them writes, if nothing else keeps them apart. It does nothing while the database cannot be reached.
func (b *Bed) HoldWrites(ctx context.Context, table string, length time.Duration) {
	tx, err := b.DB.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return
	}
	end := func() { _ = tx.Rollback() } // it has ended with the database if that fails
	// The database itself ends what a busy machine forgets.
	const bounds = "SET LOCAL lock_timeout = '500ms'; SET LOCAL idle_in_transaction_session_timeout = '2s'; "
	if _, err := tx.ExecContext(context.WithoutCancel(ctx), bounds+"LOCK TABLE "+table+" IN SHARE MODE"); err != nil {
		end()
		return
	}
	time.AfterFunc(length, end)
}
