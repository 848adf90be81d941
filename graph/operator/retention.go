package operator

import (
	"context"
	"time"

	"stoa/graph/platform/viewer"
)

// Forever is the retention of what is never deleted.
const Forever time.Duration = -1

// BackupRetention is how long a backup is kept; the last good one stays.
const BackupRetention = 7 * 24 * time.Hour

// Retention is a row of the table of what is kept for how long (§8).
type Retention struct {
	Name string
	// What it is, and from when on its time counts.
	What string
	// Kept is how long; 0 until the job runs next, Forever for ever.
	Kept time.Duration
	// Job is the kind of the periodic job that deletes it; empty where nothing does.
	Job string
	// Sweep is what the job cleanup and the task CLEANUP run for it: it deletes what is past its retention and returns how many rows or
	// files that were. Stopping it half-way loses nothing. Nil where the sweep of another row does it, or another job.
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
