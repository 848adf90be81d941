package limits

import (
	"context"
	"database/sql"
	"math"
	"time"

	"stoa/graph/fault"
)

// querier is a pool, or a transaction when a refused act must not be counted.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Taken is the state of one limit after an act, in the terms of the RateLimit headers.
type Taken struct {
	Limit     Limit
	Quota     int
	Allowed   bool
	Remaining int
	// Reset is the time until the whole quota is there again, or, when refused, until one act would be allowed.
	Reset time.Duration
}

// Fault is nil while the act is allowed, and the limit's fault with its Retry-After otherwise.
func (t Taken) Fault() error {
	if t.Allowed {
		return nil
	}
	return fault.New(t.Limit.Code).After(t.Reset)
}

// Take counts one act of subject against a limit. It returns the limit's fault (write_limited, rate_limited or
// registration_limited) when the quota is used up; a refused act is not counted.
func (q Quotas) Take(ctx context.Context, on querier, limit Limit, subject string) error {
	quota := limit.Quota(q)
	if quota == 0 {
		return nil
	}
	taken := Taken{Limit: limit, Quota: quota}
	var seconds float64
	err := on.QueryRowContext(ctx, "SELECT allowed, remaining, reset_after FROM stoa_take($1, $2, $3, make_interval(secs => $4))",
		limit.Name, subject, quota, limit.Span.Seconds()).Scan(&taken.Allowed, &taken.Remaining, &seconds)
	if err != nil {
		return err
	}
	taken.Reset = Seconds(seconds)
	recordOf(ctx).Add(taken)
	return taken.Fault()
}

// TakeOnce is Take for a limit that both a transport and the method behind it ask for: within one request it counts once.
func (q Quotas) TakeOnce(ctx context.Context, on querier, limit Limit, subject string) error {
	if recordOf(ctx).has(limit.Name) {
		return nil
	}
	return q.Take(ctx, on, limit, subject)
}

// Seconds turns the database's seconds into a duration of whole seconds, rounded up, at least one.
func Seconds(s float64) time.Duration {
	return time.Duration(max(math.Ceil(s), 1)) * time.Second
}
