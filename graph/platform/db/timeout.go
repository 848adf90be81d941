package db

import (
	"context"
	"time"

	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/slack"
)

// RequestTimeout is how long one request may wait for the database altogether: for connections, statements and commits. The driver needs
// half a second more to notice a server that does not answer, so such a request is service_unavailable within 5 s.
var RequestTimeout = slack.Of(4 * time.Second)

// MaintenanceTimeout is how long a statement of a job or of an operator's maintenance may take.
const MaintenanceTimeout = time.Minute

// Bounded returns a context that ends after a budget: RequestTimeout, less the time that the request has spent on the database already.
// The transports call it. A context that ends earlier, or has its own statement timeout, stays unchanged.
func Bounded(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= budget {
		return ctx, func() {}
	}
	if _, ok := prepared.StatementTimeout(ctx); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithValue(ctx, unboundedKey{}, ctx), budget)
}

// WithStatementTimeout returns a context for jobs and for the maintenance of operators: each of its statements may take that long, and the
// bound of a request does not apply.
func WithStatementTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return prepared.WithStatementTimeout(Unbounded(ctx), timeout)
}

// Unbounded undoes Bounded, for the part of a request that does not use the database and may take longer.
func Unbounded(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(unboundedKey{}).(context.Context); ok {
		return unbounded{ctx, outer}
	}
	return ctx
}

type unboundedKey struct{}

// unbounded has the values of a bounded context and the end of the context that was bounded.
type unbounded struct {
	context.Context //nolint:containedctx // this is a context

	outer context.Context //nolint:containedctx // as above
}

// Deadline implements context.Context.
func (u unbounded) Deadline() (time.Time, bool) { return u.outer.Deadline() }

// Done implements context.Context.
func (u unbounded) Done() <-chan struct{} { return u.outer.Done() }

// Err implements context.Context.
func (u unbounded) Err() error { return u.outer.Err() }
