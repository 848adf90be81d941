package db

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/fault"
)

const (
	attempts  = 4
	firstWait = 5 * time.Millisecond
)

// ForNoKeyUpdate makes ent's ForUpdate lock rows as an UPDATE of them does. Use it for rows that others refer to: a plain FOR UPDATE also
// makes every foreign key that refers to the row wait, which locks them in no fixed order, and so deadlocks.
var ForNoKeyUpdate = entsql.WithLockClause("FOR NO KEY UPDATE")

// Tx is one transaction. It is not safe for concurrent use and ends with the function it was given to.
type Tx struct {
	// Ent runs generated statements inside the transaction.
	Ent *ent.Client
	// SQL runs hand-tuned statements inside the transaction.
	SQL *sql.Tx

	now   time.Time
	after []func()
}

// Tx runs fn in a read-committed transaction and commits when it returns nil. fn may run up to four times, so all it does
// must happen through tx; what must follow a commit goes into Tx.AfterCommit. A commit whose answer was lost gives
// service_unavailable.
//
// It bounds ctx by RequestTimeout, unless ctx is bounded already or has its own statement timeout (WithStatementTimeout).
func (d *DB) Tx(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	ctx, cancel := Bounded(ctx, RequestTimeout)
	defer cancel()
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := d.once(ctx, fn)
		if err == nil || attempt == attempts || !Retryable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait *= 2
	}
}

func (d *DB) once(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	inner, err := d.Ent.Tx(ctx)
	if err != nil {
		return err
	}
	tx := &Tx{Ent: inner.Client(), SQL: inner.SQL()}
	defer inner.Rollback() //nolint:errcheck // after a commit this does nothing, and a lost rollback is the server's to make
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		if refused := new(pq.Error); errors.As(err, &refused) {
			return err
		}
		return fault.New(fault.ServiceUnavailable).Say("It is unknown whether the change was made; repeat it under the same idempotency id or read it back.")
	}
	for _, follow := range tx.after {
		follow()
	}
	return nil
}

// Now is the database clock at the start of the transaction, the same at every call.
func (tx *Tx) Now(ctx context.Context) (time.Time, error) {
	if tx.now.IsZero() {
		if err := tx.SQL.QueryRowContext(ctx, "SELECT stoa_now()").Scan(&tx.now); err != nil {
			return time.Time{}, err
		}
		tx.now = tx.now.UTC()
	}
	return tx.now, nil
}

// AfterCommit runs follow once the transaction is durable, and never if it is not. follow must not block.
func (tx *Tx) AfterCommit(follow func()) { tx.after = append(tx.after, follow) }

// Retryable reports whether a transaction with that error changed nothing and may succeed when it is tried again, as Tx does.
func Retryable(err error) bool {
	if prepared.Stale(err) {
		return true
	}
	refused := new(pq.Error)
	return errors.As(err, &refused) && (refused.Code == "40001" || refused.Code == "40P01")
}

// Violates reports whether err is the database refusing a row for the named constraint or unique index.
func Violates(err error, constraint string) bool {
	refused := new(pq.Error)
	return errors.As(err, &refused) && refused.Constraint == constraint
}

// Job is work to do after a commit: its kind names the worker, and its fields are stored as JSON.
type Job interface{ Kind() string }

// Enqueue adds a job in the transaction of its cause, so that the job exists if and only if that is committed.
type Enqueue func(ctx context.Context, tx *Tx, job Job) error
