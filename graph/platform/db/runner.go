package db

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"stoa/graph/platform/tracing"
)

// Runner runs statements: outside a transaction (DB.SQL, safe for concurrent use) or inside one (Tx.SQL).
//
// Statements with arguments are kept: database/sql prepares each once on each connection. None is cancelled: it ends at its
// session's statement_timeout, and a connection whose server does not answer is closed soon after (socket). A context only bounds
// the wait for a connection. Statements of a Patient context use separate connections, are cancelled with it and are not kept.
//
// Outside a transaction, database/sql repeats a statement if its connection was lost, and Runner repeats it if it no longer fits
// the schema. So a change that is one statement must be safe to run twice.
type Runner struct {
	*pools
	// Tx is nil outside a transaction.
	Tx *sql.Tx

	patient bool
	// missing holds the statements to keep after the transaction has released its connection.
	missing []string
}

// pools holds the connections to a database and the statements kept on them.
type pools struct {
	// Pool runs the statements of requests.
	Pool *sql.DB

	slow *sql.DB
	mu   sync.RWMutex
	kept map[string]*sql.Stmt
	// unnamed counts the kept statements that are not named.
	unnamed int
}

// QueryContext runs a statement and returns its rows.
func (r *Runner) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return run(ctx, r, text, len(args),
		func(ctx context.Context, on Querier) (*sql.Rows, error) { return on.QueryContext(ctx, text, args...) },
		func(ctx context.Context, kept *sql.Stmt) (*sql.Rows, error) { return kept.QueryContext(ctx, args...) })
}

// ExecContext runs a statement to its end.
func (r *Runner) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return run(ctx, r, text, len(args),
		func(ctx context.Context, on Querier) (sql.Result, error) { return on.ExecContext(ctx, text, args...) },
		func(ctx context.Context, kept *sql.Stmt) (sql.Result, error) { return kept.ExecContext(ctx, args...) })
}

// run runs a text with sent, as lib/pq sends it, or prepared with do. If a kept statement no longer fits the schema, it calls do
// again with a new one, or returns a staleError inside a transaction, which has then failed.
func run[T any](
	ctx context.Context, r *Runner, of string, args int, sent func(context.Context, Querier) (T, error),
	do func(context.Context, *sql.Stmt) (T, error),
) (result T, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	ctx, done := tracing.Statement(ctx, of)
	defer func() { done(err); r.leaveStandby(err) }()
	on, ctx := r.reach(ctx)
	if args == 0 && !isNamed(of) || on == r.slow || r.patient {
		return sent(ctx, on)
	}
	kept, known, err := r.keep(ctx, of)
	switch {
	case err != nil:
		return result, err
	case kept == nil && (r.Tx != nil || args == 0):
		return sent(ctx, on)
	case kept == nil:
		return alone(ctx, r, of, do)
	case r.Tx != nil:
		kept = r.Tx.StmtContext(ctx, kept)
	}
	result, err = do(ctx, kept)
	stale, schema := staleness(err, known)
	if !stale {
		return result, err
	}
	if r.Tx != nil {
		r.forget(of, schema)
		return result, staleError{err}
	}
	if result, err = alone(ctx, r, of, do); schema || err == nil { // otherwise the value was wrong
		r.forget(of, schema)
	}
	return result, err
}

// alone prepares a statement for one use. For a text with arguments lib/pq would take two round trips, and a pooler in
// transaction mode may send the second one to another server connection.
func alone[T any](ctx context.Context, r *Runner, of string, do func(context.Context, *sql.Stmt) (T, error)) (result T, err error) {
	prepared, err := r.Pool.PrepareContext(ctx, of)
	if err != nil {
		return result, err
	}
	defer prepared.Close() //nolint:errcheck // the server forgets it with the connection
	return do(ctx, prepared)
}

// reach returns the connections for a context and the context for their statements. While all connections are in use, it returns
// ctx itself, which bounds the wait for one.
func (r *Runner) reach(ctx context.Context) (Querier, context.Context) {
	if r.Tx != nil && r.patient {
		return r.Tx, ctx
	}
	if r.Tx != nil {
		return r.Tx, uncancelled{ctx}
	}
	pool, ctx := r.choose(ctx)
	return pool, ctx
}

// choose returns the pool for a context, and the context for statements on it.
func (p *pools) choose(ctx context.Context) (*sql.DB, context.Context) {
	if isPatient(ctx) {
		return p.slow, ctx
	}
	if stats := p.Pool.Stats(); stats.InUse >= stats.MaxOpenConnections {
		return p.Pool, ctx
	}
	return p.Pool, uncancelled{ctx}
}

// uncancelled has the values and the deadline of a context, but is never done. Otherwise lib/pq and database/sql start two
// goroutines a statement: 16 callers then look up 26,600 to 32,100 tokens a second instead of 39,500 to 43,900.
type uncancelled struct{ context.Context } //nolint:containedctx // this is a context

func (uncancelled) Done() <-chan struct{} { return nil }
func (uncancelled) Err() error            { return nil }

// mostKept bounds the kept statements that are not named, such as ent's. PostgreSQL stores each with its plan on each connection.
const mostKept = 256

// repeatable holds the first words of statements that may be kept, and so are repeated if stale. CALL is not one of them: a
// procedure may commit before it fails. A statement that begins with PlanPerValue matches none of them.
var repeatable = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}

func isNamed(of string) bool {
	_, named := namedTexts.Load(of)
	return named
}

// mayKeep reports whether a statement with arguments is kept. An unnamed one with an IN list is not: each length is another text.
func mayKeep(of string, already int) bool {
	if !isNamed(of) && (already >= mostKept || strings.Contains(of, " IN ($")) {
		return false
	}
	of = strings.TrimLeft(of, " \t\n")
	return slices.ContainsFunc(repeatable, func(word string) bool { return strings.HasPrefix(of, word) })
}

// keep returns the kept statement of a text, or nil if it is not kept; known is false if this call has prepared it.
func (r *Runner) keep(ctx context.Context, of string) (kept *sql.Stmt, known bool, err error) {
	r.mu.RLock()
	kept, already := r.kept[of], r.unnamed
	r.mu.RUnlock()
	if kept != nil || !mayKeep(of, already) {
		return kept, true, nil
	}
	if r.Tx != nil { // preparing it needs another connection, for which all transactions could wait
		r.missing = append(r.missing, of)
		return nil, false, nil
	}
	made, err := r.Pool.PrepareContext(ctx, of) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept = r.kept[of]; kept != nil {
		retire(made)
		return kept, true, nil
	}
	r.kept[of] = made
	if !isNamed(of) {
		r.unnamed++
	}
	return made, false, nil
}

// forget drops a kept statement, so that it is prepared again; or all of them, if the whole schema may have changed.
func (p *pools) forget(of string, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, kept := range p.kept {
		if all || other == of {
			retire(kept)
			delete(p.kept, other)
			if !isNamed(other) {
				p.unnamed--
			}
		}
	}
}

// retire closes a statement after its current users have run it.
func retire(s *sql.Stmt) { time.AfterFunc(2*RequestTimeout, func() { _ = s.Close() }) }

// leaveStandby closes the idle connections after a write was refused because the server has become a standby. New connections go
// to the primary.
func (p *pools) leaveStandby(err error) {
	if err != nil && pq.As(err, pqerror.ReadOnlySQLTransaction) != nil {
		p.Pool.SetMaxIdleConns(0)
		p.Pool.SetMaxIdleConns(p.Pool.Stats().MaxOpenConnections)
	}
}

// staleError is the error of a kept statement that no longer fits the schema. It did nothing, but its transaction failed.
type staleError struct{ error }

func (e staleError) Unwrap() error { return e.error }

// staleness reports whether an error means that a statement was prepared before the schema changed, and whether other statements
// may be stale, too. PostgreSQL refuses such a statement before it runs. known is false if the statement was just prepared.
func staleness(err error, known bool) (stale, schema bool) {
	if err == nil {
		return false, false
	}
	e := pq.As(err)
	switch {
	case e == nil:
		return false, false
	// The result has other columns or types. PostgreSQL translates messages, but not routine names.
	case e.Code == pqerror.FeatureNotSupported && (e.Routine == "RevalidateCachedQuery" || e.Message == "cached plan must not change result type"),
		e.Code == pqerror.InvalidSQLStatementName: // DEALLOCATE ALL, DISCARD ALL
		return true, true
	// The types of the parameters no longer fit, or a name is gone. Only the parser reports a position, not a value (tsquery).
	case e.Code.Class() == pqerror.ClassSyntaxErrorOrAccessRuleViolation && e.Position != "",
		e.Code == pqerror.InternalError && strings.HasPrefix(e.Message, "cache lookup failed for "): // the type of a parameter was dropped
		return known, true
	// A value does not fit the type of its parameter ("unnamed portal parameter $1", in any language). Usually the value is
	// wrong, but the column may have been widened.
	default:
		return known && e.Code.Class() == pqerror.ClassDataException && strings.Contains(e.Where, "$"), false
	}
}
