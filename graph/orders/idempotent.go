package orders

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
)

// idempotent is an operation that takes effect once (§1.7).
//
// An attempt reads a snapshot, decides in Go, and writes by one statement. The statement checks the snapshot again and writes
// nothing if it no longer holds: the order's version and, for a new obligation, the friendship, both agents' states, the deadline
// and the fee rate. The first attempt uses no transaction and takes no lock before it writes.
//
// There is a second attempt, in a transaction that takes the locks before it reads, after two outcomes of the first:
//   - errStale: the snapshot no longer held.
//   - unsettled: a refusal because of an agent's state, the time, the fee rate, or a version that the order has not reached yet.
//
// The lock waits for every identical request under way, which may have been decided upon while the agent was still active or the
// deadline still ahead; the second attempt finds its stored result. Every other refusal is final, because an identical request
// under way cannot succeed either: what never changes or comes with the version refuses that one, too, and a friendship cannot end
// while that one holds its lock.
type idempotent struct {
	attempt func(ctx context.Context, on runner) (*OrderResult, error)
	// lock waits for every identical request under way and keeps what decides from changing until the transaction ends.
	lock *db.Statement
	args []any
	// locked: there is only the attempt in a transaction. Binding files takes separate statements.
	locked bool
}

// runner runs the statements of an attempt: each by itself on the pool, or inside the transaction tx that holds the locks.
type runner struct {
	db.Querier
	pool *db.DB
	tx   *db.Tx
}

// each runs a statement and calls scan with each row of the result. By itself it is not cancelled: the statements of an attempt find
// their rows by keys, and one that runs twice writes once.
func (on runner) each(ctx context.Context, scan func(*sql.Rows) error, s *db.Statement, args ...any) error {
	if on.tx == nil {
		return on.pool.QueryUncancelled(ctx, scan, s.Text, args...)
	}
	return db.Each(ctx, on, scan, s, args...)
}

// one runs a statement that has at most one row and returns it, or sql.ErrNoRows.
func one[T any](ctx context.Context, on runner, s *db.Statement, args ...any) (*T, error) {
	var found []*T
	if err := on.each(ctx, db.Into(&found), s, args...); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, sql.ErrNoRows
	}
	return found[0], nil
}

// errStale reports that the snapshot that an operation was decided upon did not hold any more when it wrote.
var errStale = errors.New("orders: the snapshot is stale")

// unsettled is a refusal that has to be decided again under locks.
type unsettled struct{ error }

// Unwrap returns the refusal.
func (u unsettled) Unwrap() error { return u.error }

// lockedAttempts bounds how often an attempt under locks may be stale, which only what is not locked can cause: an agent's
// state, the fee rate, and a request that takes the same operation id for another order.
const lockedAttempts = 3

func (a *API) run(ctx context.Context, op idempotent) (*OrderResult, error) {
	if !op.locked {
		made, err := op.attempt(ctx, runner{Querier: a.DB.SQL, pool: a.DB})
		if _, again := errors.AsType[unsettled](err); !again && !errors.Is(err, errStale) && !db.Retryable(err) {
			return made, err
		}
	}
	for range lockedAttempts {
		var made *OrderResult
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.SQL.ExecContext(ctx, op.lock.Text, op.args...)
			if err != nil {
				return err
			}
			made, err = op.attempt(ctx, runner{Querier: tx.SQL, tx: tx})
			return err
		})
		if err == nil {
			return made, nil
		}
		if !errors.Is(err, errStale) {
			return nil, err
		}
	}
	return nil, fault.New(fault.ServiceUnavailable)
}

// OrderResult is an order as an operation left it, as REST wraps it. A repeat holds the order as it was then.
type OrderResult struct {
	wire.Replay
	Order *Card `json:"order"`

	// body is the exact answer, the same for every repeat.
	body []byte
}

// MarshalJSON returns the exact answer.
func (r *OrderResult) MarshalJSON() ([]byte, error) { return r.body, nil }

// newResult makes the answer of an operation that took effect.
func newResult(card *Card) (*OrderResult, error) {
	body, err := wire.Marshal(map[string]any{"order": card})
	return &OrderResult{Order: card, body: body}, err
}

// operation is a request under its idempotency id, which is the agent's own and shared by create, select, all actions and ratings
// (§4.7).
type operation struct {
	agent, id uuid.UUID
	// hash identifies a request: the action, the order, and the body. Two bodies are the same when they are the same JSON values;
	// ids are the same in either case.
	hash []byte
}

func newOperation(agent, id uuid.UUID, action string, orderID uuid.UUID, in any) (operation, error) {
	hash, err := HashRequest(action, orderID, in)
	return operation{agent: agent, id: id, hash: hash}, err
}

// HashRequest hashes an input as it was sent, its ids in canonical form; fields left out stay out (omitzero), which makes the
// encoding canonical. It distinguishes all requests that share the space of operation ids.
func HashRequest(action string, orderID uuid.UUID, in any) ([]byte, error) {
	body, err := wire.Marshal(in)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	sum.Write([]byte(action + "\n"))
	sum.Write(orderID[:])
	sum.Write(body)
	return sum.Sum(nil), nil
}

// stored is the kept record of an operation that took effect. Without Result no operation is stored.
type stored struct {
	Hash   []byte `db:"request_hash"`
	Result []byte `db:"result"`
}

// repeat turns a stored operation into the answer of op: the stored one, idempotency_conflict if the request is another, or nil
// if nothing is stored.
func (op operation) repeat(kept stored) (*OrderResult, error) {
	if kept.Result == nil {
		return nil, nil
	}
	if !bytes.Equal(kept.Hash, op.hash) {
		return nil, fault.New(fault.IdempotencyConflict)
	}
	r := &OrderResult{Replay: wire.Replayed(), body: kept.Result}
	return r, json.Unmarshal(kept.Result, r)
}

// find looks for a stored operation by itself, for requests that read nothing else along with it.
func (op operation) find(ctx context.Context, q db.Querier) (*OrderResult, error) {
	kept, err := db.One[stored](ctx, q, findOperation, op.agent, op.id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return op.repeat(*kept)
}

// commit writes all that a step leaves behind by one statement, openOrder or stepOrder: the order, its history, the stored
// answer, the events of both participants, which hold no terms, sums or files, and the money. obliges makes the statement check
// the conditions of a new obligation. Faults: insufficient_funds, ledger_conflict; errStale if the snapshot no longer holds, or if
// a concurrent request took the operation id.
func (a *API) commit(
	ctx context.Context, on runner, statement *db.Statement, obliges bool, s *snapshot, done step, op operation, money posting,
) (*OrderResult, error) {
	if err := loadFiles(ctx, on, done.by, s); err != nil {
		return nil, err
	}
	made, err := newResult(newCard(s, done.by))
	if err != nil {
		return nil, err
	}
	args, err := s.commitArgs(statement == openOrder, obliges, done, op, made, money)
	if err != nil {
		return nil, err
	}
	written := 0
	err = on.each(ctx, func(*sql.Rows) error { written++; return nil }, statement, args...)
	if refusal := wallet.Refusal(err); refusal != nil {
		return nil, refusal
	}
	if db.Violates(err, "operation_bot_id_operation_id") || (err == nil && written == 0) {
		return nil, errStale
	}
	if err != nil {
		return nil, err
	}
	wake := func() { a.Events.Wake([]uuid.UUID{s.CustomerID, s.ContractorID}) }
	if on.tx == nil {
		wake()
	} else {
		on.tx.AfterCommit(wake)
	}
	return made, nil
}

// commitArgs are the arguments of openOrder and stepOrder.
func (s *snapshot) commitArgs(opens, obliges bool, done step, op operation, made *OrderResult, money posting) ([]any, error) {
	after, err := s.written(opens)
	if err != nil {
		return nil, err
	}
	note, err := wire.Marshal(map[string]any{
		"action": done.action, "participant_id": done.by, "reason": done.reason, "operation_id": op.id,
		"ids": []uuid.UUID{newID(), newID(), eventid.New(s.CustomerID), eventid.New(s.ContractorID)},
	})
	if err != nil {
		return nil, err
	}
	announcement, err := wire.Marshal(events.OrderPayload{
		OrderID: s.ID, Status: string(s.State), Version: s.Version, Action: done.action, ActorID: done.by,
	})
	if err != nil {
		return nil, err
	}
	var transaction wallet.Transaction
	if money.transaction != nil {
		transaction = money.transaction(wallet.Escrow{
			OrderID: s.ID, OperationID: op.id, CustomerID: s.CustomerID, ContractorID: s.ContractorID,
			AmountMinor: s.AmountMinor, FeeMinor: s.FeeMinor,
		})
	}
	posted, err := transaction.Argument()
	return []any{obliges, string(after), string(note), op.hash, string(made.body), string(announcement), posted}, err
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
