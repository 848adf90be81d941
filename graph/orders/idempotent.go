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

// errStale reports that the snapshot that an operation was decided upon did not hold any more when it wrote.
var errStale = errors.New("orders: the snapshot is stale")

// attempts bounds how often an operation is decided anew because its snapshot was stale.
const attempts = 3

// once runs an operation that takes effect once (§1.7), in a transaction. lock waits for every identical request under way, and keeps
// the order and the friendship as they are; decide reads a snapshot, decides in Go, and writes by one statement.
//
// An agent's state, the time and the fee rate are not locked, and another request may take the operation id. So the statement that
// writes checks them again and writes nothing if the snapshot no longer holds (errStale); the operation is then decided anew.
func (a *API) once(
	ctx context.Context, lock *db.Statement, args []any, decide func(ctx context.Context, tx *db.Tx) (*OrderResult, error),
) (*OrderResult, error) {
	for range attempts {
		var made *OrderResult
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.SQL.ExecContext(ctx, lock.Text, args...)
			if err == nil {
				made, err = decide(ctx, tx)
			}
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
	ctx context.Context, tx *db.Tx, statement *db.Statement, obliges bool, s *snapshot, done step, op operation, money posting,
) (*OrderResult, error) {
	if err := loadFiles(ctx, tx.SQL, done.by, s); err != nil {
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
	err = db.Each(ctx, tx.SQL, func(*sql.Rows) error { written++; return nil }, statement, args...)
	if refusal := wallet.Refusal(err); refusal != nil {
		return nil, refusal
	}
	if db.Violates(err, "operation_bot_id_operation_id") || (err == nil && written == 0) {
		return nil, errStale
	}
	if err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { a.Events.Wake([]uuid.UUID{s.CustomerID, s.ContractorID}) })
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
