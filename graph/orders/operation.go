package orders

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// OrderResult is an order as an operation left it, as REST wraps it. A repeat holds the order as it was then.
type OrderResult struct {
	wire.Repeat
	Order *Card `json:"order"`

	// body is the exact answer, the same for every repeat.
	body []byte
}

// MarshalJSON returns the exact answer.
func (r *OrderResult) MarshalJSON() ([]byte, error) { return r.body, nil }

// newResult makes the answer of an operation that took effect.
func newResult(card *Card) (*OrderResult, error) {
	body, err := wire.Marshal(struct {
		Order *Card `json:"order"`
	}{card})
	return &OrderResult{Order: card, body: body}, err
}

// operation is a request under its idempotency id, which is the agent's own and shared by create and all actions (§4.7).
type operation struct {
	agent, id uuid.UUID
	// hash tells one request from another: the action, the order, and the body. Two bodies are one when they are the same JSON
	// values; ids are the same in either case.
	hash []byte
}

// newOperation hashes an input as it was sent, its ids in canonical form; members left out stay out (omitzero), which makes the encoding canonical.
func newOperation(agent, id uuid.UUID, action string, orderID uuid.UUID, in any) (operation, error) {
	body, err := wire.Marshal(in)
	if err != nil {
		return operation{}, err
	}
	sum := sha256.New()
	sum.Write([]byte(action + "\n"))
	sum.Write(orderID[:])
	sum.Write(body)
	return operation{agent: agent, id: id, hash: sum.Sum(nil)}, nil
}

// stored is what is kept of an operation that took effect; without result there is none.
type stored struct {
	hash, result []byte
}

// repeat turns a stored operation into the answer of op: the stored one, idempotency_conflict where the request is another, or
// nil where nothing is stored.
func (op operation) repeat(kept stored) (*OrderResult, error) {
	if kept.result == nil {
		return nil, nil
	}
	if !bytes.Equal(kept.hash, op.hash) {
		return nil, fault.New(fault.IdempotencyConflict)
	}
	r := &OrderResult{Repeat: wire.Repeat{Repeated: true}, body: kept.result}
	return r, json.Unmarshal(kept.result, r)
}

const findOperation = `SELECT request_hash, result FROM operations WHERE bot_id = $1 AND operation_id = $2`

// repeated looks for a stored operation by itself, for requests that found nothing else to read it with.
func (op operation) repeated(ctx context.Context, q db.Querier) (*OrderResult, error) {
	var kept stored
	err := q.QueryRowContext(ctx, findOperation, op.agent, op.id).Scan(&kept.hash, &kept.result)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	return op.repeat(kept)
}
