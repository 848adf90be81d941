package orders

import (
	"context"
	"errors"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// scope is where an operation runs: with each statement by itself, or inside a transaction tx that holds its locks.
type scope struct {
	db.Querier
	tx *db.Tx
}

// then runs follow once what was written is durable.
func (in scope) then(follow func()) {
	if in.tx == nil {
		follow()
		return
	}
	in.tx.AfterCommit(follow)
}

// work is an operation under its id.
type work struct {
	// act reads what decides, looks for a stored result, decides, and writes everything in one statement, which writes nothing
	// and makes act return errChanged where what was decided upon holds no longer.
	act func(ctx context.Context, in scope) (*OrderResult, error)
	// files come with the request. Binding them takes statements of its own, and so a transaction.
	files bool
	// lock is the statement, with its args, that keeps what decides from changing until the transaction ends, and that waits for
	// every identical request under way.
	lock string
	args []any
}

// errChanged tells that what an operation was decided upon has changed before it wrote.
var errChanged = errors.New("orders: what was decided upon has changed")

// tries bounds how often a decision under locks may be overtaken, which only what is not locked can do: an agent's state, the fee
// rate, and a request that takes the same operation id for another order.
const tries = 3

// once makes an operation take effect once. It first tries without a transaction: one statement reads and one writes, and nobody
// waits for this process in between. What is refused there, or overtaken, is decided anew under locks, so that a refusal never
// rests on what a request under way is about to change, and a repeat gets the result of the first.
func (a *API) once(ctx context.Context, w work) (*OrderResult, error) {
	if !w.files {
		made, err := w.act(ctx, scope{Querier: a.DB.SQL})
		if err == nil || final(err) {
			return made, err
		}
	}
	return a.locked(ctx, w)
}

// locked runs an operation in a transaction that holds its locks from the start.
func (a *API) locked(ctx context.Context, w work) (*OrderResult, error) {
	for range tries {
		var made *OrderResult
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.SQL.ExecContext(ctx, w.lock, w.args...)
			if err != nil {
				return err
			}
			made, err = w.act(ctx, scope{tx.SQL, tx})
			return err
		})
		if err == nil {
			return made, nil
		}
		if !errors.Is(err, errChanged) {
			return nil, err
		}
	}
	return nil, fault.New(fault.ServiceUnavailable)
}

// final tells that locks would not change an answer: stored results stay as they are, the ledger has already locked what it
// judged, and a database that fails is not to be asked again.
func final(err error) bool {
	if errors.Is(err, errChanged) || db.Retryable(err) {
		return false
	}
	refusal := fault.From(err)
	switch refusal.Code {
	case fault.IdempotencyConflict, fault.InsufficientFunds, fault.LedgerConflict:
		return true
	default:
		return refusal.Status() >= 500
	}
}
