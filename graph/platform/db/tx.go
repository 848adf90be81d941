package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"stoa/ent"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/tracing"
)

const (
	attempts  = 4
	firstWait = 5 * time.Millisecond
)

// ForNoKeyUpdate makes ent's ForUpdate lock rows as an UPDATE does. Use it for rows that other rows refer to. A plain FOR UPDATE
// also blocks inserts that refer to the row by a foreign key; these lock rows in no fixed order, which leads to deadlocks.
var ForNoKeyUpdate = entsql.WithLockClause("FOR NO KEY UPDATE")

// Tx is one transaction. It is not safe for concurrent use and ends with the function it was given to.
type Tx struct {
	// Ent runs generated statements inside the transaction.
	Ent *ent.Client
	// SQL runs hand-tuned statements inside the transaction.
	SQL *Runner

	now   time.Time
	after []func()
}

// Tx runs fn in a read-committed transaction and commits if it returns nil. fn may run up to four times, so it must act only
// through tx; use Tx.AfterCommit for actions after the commit. If the answer to the commit is lost, Tx returns
// service_unavailable.
//
// It bounds ctx by RequestTimeout, unless ctx is bounded already or is Patient.
func (d *DB) Tx(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	ctx, cancel := Bounded(ctx, RequestTimeout)
	defer cancel()
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, 2*wait {
		err := d.once(ctx, fn)
		if err == nil || attempt == attempts || !Retryable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// Change is DB.Tx for a change that has a result.
func Change[T any](ctx context.Context, d *DB, change func(ctx context.Context, tx *Tx) (T, error)) (made T, err error) {
	err = d.Tx(ctx, func(ctx context.Context, tx *Tx) (err error) {
		made, err = change(ctx, tx)
		return err
	})
	return made, err
}

// Alone is Change for a change with at most one writing statement, which commits by itself. It is not retried.
func Alone[T any](ctx context.Context, d *DB, change func(ctx context.Context, tx *Tx) (T, error)) (made T, err error) {
	ctx, cancel := Bounded(ctx, RequestTimeout)
	defer cancel()
	tx := &Tx{Ent: d.Ent, SQL: d.SQL}
	if made, err = change(ctx, tx); err != nil {
		return made, err
	}
	for _, follow := range tx.after {
		follow()
	}
	return made, nil
}

func (d *DB) once(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) (err error) {
	inner, err := d.SQL.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { inner.end(ctx, err) }()
	generated, err := d.Ent.Tx(context.WithValue(ctx, begunKey{}, inner))
	if err != nil {
		return err
	}
	tx := &Tx{Ent: generated.Client(), SQL: inner}
	if err := fn(ctx, tx); err != nil {
		return err
	}
	_, done := tracing.Statement(ctx, "COMMIT")
	err = inner.Tx.Commit()
	done(err)
	if pq.As(err) != nil {
		return err
	}
	if err != nil {
		return fault.New(fault.ServiceUnavailable).Say("It is unknown whether the change was made; repeat it under the same idempotency id or read it back.")
	}
	for _, follow := range tx.after {
		follow()
	}
	return nil
}

// begin begins a transaction.
func (r *Runner) begin(ctx context.Context) (*Runner, error) {
	pool, within := r.choose(ctx)
	tx, err := pool.BeginTx(within, nil)
	if err != nil {
		return nil, err
	}
	return &Runner{pools: r.pools, Tx: tx, patient: pool == r.slow}, nil
}

// end rolls back a transaction that is not committed, and prepares the statements that the transaction was missing.
func (r *Runner) end(ctx context.Context, failed error) {
	_ = r.Tx.Rollback() // if it is lost, the server rolls back
	r.leaveStandby(failed)
	outside := Runner{pools: r.pools}
	for _, of := range r.missing {
		if _, _, err := outside.keep(ctx, of); err != nil { //nolint:sqlclosecheck // it is kept
			return // the next transaction tries again
		}
	}
}

// entDriver makes ent run its statements with a Runner.
type entDriver struct {
	entsql.Conn
	outside *Runner
}

// begunKey is the context key of the transaction of DB.Tx, which ent then uses.
type begunKey struct{}

func (entDriver) Dialect() string { return dialect.Postgres }

// Close implements dialect.Driver; DB.Close closes the connections.
func (entDriver) Close() error { return nil }

// Tx implements dialect.Driver, for DB.Tx and for a change of ent alone that takes several statements.
func (d entDriver) Tx(ctx context.Context) (_ dialect.Tx, err error) {
	tx, begun := ctx.Value(begunKey{}).(*Runner)
	if !begun {
		if tx, err = d.outside.begin(ctx); err != nil {
			return nil, err
		}
	}
	return &entsql.Tx{Conn: entsql.Conn{ExecQuerier: tx}, Tx: tx.Tx}, nil
}

// Now reads the database clock.
var Now = &Statement{Text: "SELECT stoa_now()"}

// Now is the database clock at the start of the transaction, the same at every call.
func (tx *Tx) Now(ctx context.Context) (time.Time, error) {
	if tx.now.IsZero() {
		now, err := Value[time.Time](ctx, tx.SQL, Now)
		if err != nil {
			return time.Time{}, err
		}
		tx.now = now.UTC()
	}
	return tx.now, nil
}

// AfterCommit makes follow run after the commit; it never runs if the transaction fails. follow must not block.
func (tx *Tx) AfterCommit(follow func()) { tx.after = append(tx.after, follow) }

const (
	// firstRetry and lastRetry bound the wait between two attempts to reach an unavailable database.
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
)

// RetryUnavailable calls do until it succeeds, fails for another reason than an unavailable database, or ctx ends. It returns the
// last error. do may be called again after a commit whose answer was lost, so doing it twice must do no harm.
func RetryUnavailable(ctx context.Context, do func(context.Context) error) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := do(ctx)
		if err == nil || fault.From(err).Code != fault.ServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// Retryable reports whether a transaction with this error changed nothing and may succeed if it is retried, as Tx does.
func Retryable(err error) bool {
	_, stale := errors.AsType[staleError](err)
	return stale || pq.As(err, pqerror.TRSerializationFailure, pqerror.TRDeadlockDetected) != nil
}

// Violates reports whether err means that a row violates the named constraint or unique index.
func Violates(err error, constraint string) bool {
	refused := pq.As(err)
	return refused != nil && refused.Constraint == constraint
}

// Job is work to do after a commit: its kind names the worker, and its fields are stored as JSON.
type Job interface{ Kind() string }

// Enqueue adds a job in the transaction of its cause, so that the job exists if and only if the transaction commits.
type Enqueue func(ctx context.Context, tx *Tx, job Job) error
