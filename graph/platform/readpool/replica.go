package readpool

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
)

// maxPositions bounds how many positions are kept while the replica does not follow the primary.
const maxPositions = 600

var (
	// replicaCheck is how often the lag of the replica is measured, and how long a measurement may take.
	replicaCheck = slack.Of(time.Second)
	// replicaTimeout bounds a read from the replica, so that there is time left to ask the primary.
	replicaTimeout = StatementTimeout + slack.Of(500*time.Millisecond)
)

// Replica is a hot standby that answers reads of data that may be MaxLag old. It is safe for concurrent use.
type Replica struct {
	// DB is opened with ReplicaOptions.
	DB     *db.DB
	MaxLag time.Duration
	// Metrics may not be nil.
	Metrics *metrics.Metrics
	Logger  *slog.Logger

	status atomic.Pointer[ReplicaStatus] // nil before the first measurement
	// positions holds the primary's positions that the replica has not replayed, preceded by the last one that it has replayed.
	positions []position
}

// position is the end of the primary's WAL at a time.
type position struct {
	at  time.Time
	lsn int64
}

// ReplicaStatus shows whether a replica answers reads, for /readyz on the operator listener.
type ReplicaStatus struct {
	// Status is ok, lagging, down or not_a_standby; reads go to the primary unless it is ok.
	Status string `json:"status"`
	// LagSeconds is the maximum age of an answer.
	LagSeconds float64 `json:"lag_seconds"`
}

// The values of Status.
const (
	replicaOK       = "ok"
	replicaLagging  = "lagging"
	replicaDown     = "down"
	replicaPromoted = "not_a_standby"
)

// ReplicaOptions returns the options to open Replica.DB with, derived from the main pool's.
func ReplicaOptions(main db.Options) db.Options {
	main = Options(main)
	main.StatementTimeout, main.Standby, main.DirectURL = StatementTimeout, true, ""
	return main
}

// Watch measures the lag until ctx ends. Before its first measurement the replica is not used.
func (r *Replica) Watch(ctx context.Context, primary *db.DB) {
	r.set(replicaDown, 0)
	r.Metrics.ReplicaReads.Expect(metrics.Replica)
	r.Metrics.ReplicaReads.Expect(metrics.Primary)
	r.Metrics.Show(func() []metrics.Value {
		now := r.Status()
		return []metrics.Value{
			{Name: "stoa_read_replica_usable", Value: metrics.Flag(now.Status == replicaOK)},
			{Name: "stoa_read_replica_lag_seconds", Value: now.LagSeconds},
		}
	})
	for tick := time.NewTicker(replicaCheck); ctx.Err() == nil; {
		before := r.Status().Status
		r.measure(ctx, primary)
		if after := r.Status(); after.Status != before && ctx.Err() == nil {
			r.Logger.InfoContext(ctx, "the replica changed", "status", after.Status, "lag_seconds", after.LagSeconds)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
		}
	}
}

// written reads the end of a primary's WAL, replayedBy the position that a standby has replayed, null for a server that is none.
var (
	written    = &db.Statement{Text: "SELECT (pg_current_wal_lsn() - '0/0')::bigint"}
	replayedBy = &db.Statement{
		Text: "SELECT CASE WHEN pg_is_in_recovery() THEN coalesce((pg_last_wal_replay_lsn() - '0/0')::bigint, 0) END",
	}
)

// measure compares the primary's WAL positions at known times with the replica's replay position. It needs neither equal clocks
// nor writes on the primary, and includes WAL that the replica has not received.
func (r *Replica) measure(ctx context.Context, primary *db.DB) {
	ctx, cancel := context.WithTimeout(ctx, replicaCheck)
	defer cancel()
	at := time.Now()
	if lsn, err := db.Value[int64](ctx, primary.SQL, written); err == nil {
		r.positions = append(r.positions, position{at, lsn})
	}
	replay, err := db.Value[sql.Null[int64]](ctx, r.DB.SQL, replayedBy)
	if err != nil || !replay.Valid {
		r.positions = nil // it may return as a different server
		if err != nil {
			r.set(replicaDown, 0)
		} else {
			r.set(replicaPromoted, 0)
		}
		return
	}
	replayed := replay.V
	for len(r.positions) > 1 && r.positions[1].lsn <= replayed {
		r.positions = r.positions[1:]
	}
	if len(r.positions) > maxPositions {
		r.positions = append(r.positions[:1:1], r.positions[2:]...)
	}
	if len(r.positions) == 0 {
		r.set(replicaDown, 0) // the primary has not reported its position since the replica is up
		return
	}
	lag, state := time.Since(r.positions[0].at), replicaOK
	if lag+replicaCheck > r.MaxLag || r.positions[0].lsn > replayed {
		state = replicaLagging
	}
	r.set(state, lag)
}

func (r *Replica) set(status string, lag time.Duration) {
	r.status.Store(&ReplicaStatus{status, lag.Round(time.Millisecond).Seconds()})
}

// Status returns the result of the last measurement.
func (r *Replica) Status() ReplicaStatus { return *cmp.Or(r.status.Load(), new(ReplicaStatus)) }

// answers runs a read on the replica and reports whether the replica answered. If the replica is down, too slow, in conflict with
// recovery (40001) or without the last migration, it did not answer, and the caller asks the primary.
func (r *Replica) answers(ctx context.Context, read func(ctx context.Context, on db.Querier) error) (bool, error) {
	if r == nil || r.Status().Status != replicaOK {
		return false, nil
	}
	bounded, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	err := read(bounded, r.DB.SQL)
	failed := fault.From(err)
	answered := err == nil || ctx.Err() != nil || (failed.Code != fault.ServiceUnavailable && failed.Code != fault.InternalError)
	by := metrics.Replica
	if !answered {
		by = metrics.Primary
	}
	r.Metrics.ReplicaReads.Count(by)
	return answered, err
}
