package operator

import (
	"context"
	"time"

	"stoa/graph/platform/viewer"
)

// Forever is the retention of records that are never deleted.
const Forever time.Duration = -1

// BackupRetention is how long a backup is kept; the last good one stays.
const BackupRetention = 7 * 24 * time.Hour

// Retention says how long a kind of record is kept (§8).
type Retention struct {
	Name string
	// The kind of record, and the start of its retention.
	What string
	// Kept is how long; 0 until the job runs next, Forever for ever.
	Kept time.Duration
	// Job is the kind of the periodic job that deletes it; empty if nothing does.
	Job string
	// Sweep is run by the job cleanup and the task CLEANUP. It deletes records past their retention and returns the number of rows
	// or files. It can be stopped half-way. It is nil if the sweep of another row or another job does its work.
	Sweep func(context.Context) (int64, error)
}

// Days is how long it is kept, nil for ever.
func (r *Retention) Days() *float64 {
	if r.Kept == Forever {
		return nil
	}
	days := r.Kept.Hours() / 24
	return &days
}

// Retention lists what is kept for how long.
func (a *API) Retention(ctx context.Context) ([]*Retention, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	all := make([]*Retention, len(a.Kept))
	for i := range a.Kept {
		all[i] = &a.Kept[i]
	}
	return all, nil
}
