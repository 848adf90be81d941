// Package ledger measures a reconciliation of the whole ledger (§2.5), slice by slice, as the hourly job runs it.
package ledger

import (
	"context"
	"fmt"
	"time"

	"stoa/cmd/bench/world"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// Reconciliation holds the cost of a check of all entries.
type Reconciliation struct {
	Entries int
	// Slices are the times of all slices, in order.
	Slices []time.Duration
}

// Took is the time of all slices.
func (r Reconciliation) Took() (total time.Duration) {
	for _, slice := range r.Slices {
		total += slice
	}
	return total
}

// due makes the next check of the whole ledger due at once.
const due = `
UPDATE ledger_checks SET last_began_at = NULL, began_at = NULL, phase = 0, position = DEFAULT, found = DEFAULT WHERE scope = $1`

// Measure grows the ledger to that number of entries and reconciles it. No server may run. A discrepancy is an error.
func Measure(ctx context.Context, w *world.World, entries int) (result Reconciliation, err error) {
	if result.Entries, err = w.GrowLedger(ctx, entries); err != nil {
		return Reconciliation{}, err
	}
	if _, err := w.DB.ExecContext(ctx, due, wallet.WholeLedger); err != nil {
		return Reconciliation{}, err
	}
	pool, err := db.Open(w.URL, db.Options{})
	if err != nil {
		return Reconciliation{}, err
	}
	defer pool.Close() //nolint:errcheck // read only
	api := &wallet.API{DB: pool}
	for over := false; !over; {
		before := time.Now()
		var found []wallet.Discrepancy
		if found, over, err = api.ContinueCheck(ctx, wallet.WholeLedger); err != nil {
			return Reconciliation{}, err
		}
		if len(found) > 0 {
			return Reconciliation{}, fmt.Errorf("ledger: %d discrepancies, the first is %s", len(found), found[0].Check)
		}
		result.Slices = append(result.Slices, time.Since(before))
	}
	return result, nil
}
