package operator

import (
	"context"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

const (
	// deedsMost is how many rows of operators' actions a shift shows; they come from the newest deedsDeep audit entries.
	deedsMost, deedsDeep = 100, 10_000
	// happenedMost bounds the counts of each kind.
	happenedMost = 10_000
)

// Shift shows events since a time, the operators' actions, and the state of the service. Without a time it begins when the caller
// left, or 12 hours ago. Its reads use indexes and are bounded. Faults: unauthorized.
func (a *API) Shift(ctx context.Context, since *time.Time) (*Shift, error) {
	begun, err := read[Shift](ctx, a, named("begin_shift"), since, []byte(viewer.From(ctx).OwnToken))
	if err != nil {
		return nil, err
	}
	s := begun[0]
	if s.Happened, err = db.All[Tally](ctx, a.DB.SQL, named("count_happened"), s.Since, happenedMost); err != nil {
		return nil, err
	}
	if s.Done, err = db.All[Deed](ctx, a.DB.SQL, named("list_deeds"), s.Since, deedsDeep, deedsMost); err != nil {
		return nil, err
	}
	if s.Notes, err = db.All[Note](ctx, a.DB.SQL, named("list_notes"), s.Since, deedsDeep, deedsMost); err != nil {
		return nil, err
	}
	if s.Jobs, err = db.All[FailingJobs](ctx, a.DB.SQL, named("list_failing_jobs"), s.Since, happenedMost); err != nil {
		return nil, err
	}
	if s.Attention, _, err = a.attention(ctx); err != nil {
		return nil, err
	}
	if s.Backup, err = a.LastBackup(ctx); err != nil {
		return nil, err
	}
	s.KeyLog = &KeyLogState{}
	figures, err := a.Keys.Metrics(ctx)
	for _, figure := range figures {
		switch figure.Name {
		case "stoa_log_entries":
			s.KeyLog.Entries = int64(figure.Value)
		case "stoa_log_waiting":
			s.KeyLog.Waiting = int64(figure.Value)
		case "stoa_log_behind":
			s.KeyLog.Signing = figure.Value == 0
		}
	}
	return s, err
}
