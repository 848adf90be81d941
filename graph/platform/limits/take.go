package limits

import (
	"context"
	"database/sql"
	"math"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Taken is the state of one limit after an act, in the terms of the RateLimit headers.
type Taken struct {
	Limit     Limit
	Quota     int
	Allowed   bool
	Remaining int
	// Reset is the time until the whole quota is available again or, if the act was refused, until one act would be allowed.
	Reset time.Duration
}

// Fault returns nil if the act is allowed, or else the limit's fault with Retry-After.
func (t Taken) Fault() error {
	if t.Allowed {
		return nil
	}
	return fault.New(t.Limit.Code).After(t.Reset)
}

// Take counts one act of subject against a limit. If the quota is used up, it returns the limit's fault (write_limited,
// rate_limited or registration_limited) and does not count the act.
func (q Quotas) Take(ctx context.Context, on db.Querier, limit Limit, subject string) error {
	quota := limit.Quota(q)
	if quota == 0 {
		return nil
	}
	taken := Taken{Limit: limit, Quota: quota}
	var seconds float64
	err := db.Each(ctx, on, func(rows *sql.Rows) error {
		return rows.Scan(&taken.Allowed, &taken.Remaining, &seconds)
	}, takeOne, limit.Name, subject, quota, limit.Span.Seconds())
	if err != nil {
		return err
	}
	taken.Reset = Seconds(seconds)
	recordOf(ctx).Add(taken)
	return taken.Fault()
}

var takeOne = &db.Statement{Text: "SELECT allowed, remaining, reset_after FROM stoa_take($1, $2, $3, make_interval(secs => $4))"}

// takeBoth counts an act of one subject and, only if that is allowed, of the whole server. It takes its locks in this order.
var takeBoth = &db.Statement{Text: `
SELECT own.allowed, own.remaining, own.reset_after, whole.allowed, whole.remaining, whole.reset_after
FROM stoa_take($1, $2, $3, make_interval(secs => $4)) own
CROSS JOIN LATERAL stoa_take($5, '', CASE WHEN own.allowed THEN $6::integer ELSE 0 END, make_interval(secs => $7)) whole`}

// TakeOnce counts one act in one statement against the subject's own limit and, if that allows it, against a limit of the server.
// Both a transport and the method behind it call it: within one request each limit counts once. It returns the fault of the limit
// whose quota is used up. That limit does not count the act, but the subject's own limit keeps its count.
func (q Quotas) TakeOnce(ctx context.Context, on *db.DB, own Limit, subject string, whole Limit) error {
	record := recordOf(ctx)
	both := [...]Taken{q.untaken(record, own), q.untaken(record, whole)}
	if both[0].Quota == 0 && both[1].Quota == 0 {
		return nil
	}
	var seconds [len(both)]float64
	err := db.Each(ctx, on.SQL, func(rows *sql.Rows) error {
		return rows.Scan(&both[0].Allowed, &both[0].Remaining, &seconds[0], &both[1].Allowed, &both[1].Remaining, &seconds[1])
	}, takeBoth, own.Name, subject, both[0].Quota, own.Span.Seconds(), whole.Name, both[1].Quota, whole.Span.Seconds())
	if err != nil {
		return err
	}
	for i, taken := range both {
		if taken.Quota == 0 {
			continue
		}
		taken.Reset = Seconds(seconds[i])
		record.Add(taken)
		if err := taken.Fault(); err != nil {
			return err
		}
	}
	return nil
}

// untaken returns a limit before it is counted. Its quota is 0 if the limit is off or has already counted this request.
func (q Quotas) untaken(record *Record, limit Limit) Taken {
	if record.has(limit.Name) {
		return Taken{Limit: limit}
	}
	return Taken{Limit: limit, Quota: limit.Quota(q)}
}

// Seconds converts seconds from the database to a duration of whole seconds, rounded up, at least one second.
func Seconds(s float64) time.Duration {
	return time.Duration(max(math.Ceil(s), 1)) * time.Second
}

// staleBatch is how many windows one statement deletes.
const staleBatch = 5000

// Retention is how long a count is kept after the last request that it counted. No span is longer than an hour except the day of
// texts, whose counts are kept a day longer.
const Retention = 2 * time.Hour

// deleteStale skips windows that a request is counting in at the same time.
const deleteStale = `
DELETE FROM rate_windows WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM rate_windows WHERE taken_at < stoa_now() - make_interval(days => (name = 'texts')::integer, secs => $1)
  LIMIT $2 FOR UPDATE SKIP LOCKED))`

// DeleteStale deletes counts that no longer matter, in batches, and returns how many there were. A job calls it.
func DeleteStale(ctx context.Context, on *db.DB) (int64, error) {
	return on.ExecBatches(ctx, deleteStale, staleBatch, Retention.Seconds())
}
