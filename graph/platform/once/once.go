// Package once makes requests take effect once (§1.7). Each carries an id of its agent's choice; create, select and all actions of
// orders, drafts, their replies and ratings share the space of these ids. The first request that takes effect stores its answer
// with a hash of the request. The same request again gets that answer, and another one under the same id idempotency_conflict. A
// request that fails stores nothing.
package once

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// ErrStale reports that the facts that a request was decided upon did not hold any more when it wrote, for example because another
// request took its id.
var ErrStale = errors.New("once: the snapshot is stale")

// attempts bounds how often a request is decided anew. The second attempt finds what the first one met.
const attempts = 3

// Do runs a request in a transaction: lock makes identical requests wait for each other, and keeps what decides it as it is; nil
// locks nothing. decide then reads a snapshot with the stored answer, decides, and writes. ErrStale of decide begins anew.
func Do[R any](
	ctx context.Context, on *db.DB, lock *db.Statement, args []any, decide func(ctx context.Context, tx *db.Tx) (*R, error),
) (*R, error) {
	for range attempts {
		made, err := db.Change(ctx, on, func(ctx context.Context, tx *db.Tx) (*R, error) {
			if lock != nil {
				if _, err := tx.SQL.ExecContext(ctx, lock.Text, args...); err != nil {
					return nil, err
				}
			}
			return decide(ctx, tx)
		})
		if !errors.Is(err, ErrStale) {
			return made, err
		}
	}
	return nil, fault.New(fault.ServiceUnavailable)
}

// Attempt is Do for a request that writes by one statement at most, which checks again what decided it. It is decided without a
// transaction first, and under the lock only if that does not succeed: the refusal may rest on an identical request under way.
// This saves the three round trips of BEGIN, the lock and COMMIT.
func Attempt[R any](
	ctx context.Context, on *db.DB, lock *db.Statement, args []any, decide func(ctx context.Context, tx *db.Tx) (*R, error),
) (*R, error) {
	if made, err := db.Alone(ctx, on, decide); err == nil {
		return made, nil
	}
	return Do(ctx, on, lock, args, decide)
}

// Request identifies a request.
type Request struct {
	Agent, ID uuid.UUID
	// Hash differs for every other request: another action, another thing that it is about, another body.
	Hash []byte
}

// NewRequest makes a Request. about is the thing that the action is about, uuid.Nil for none. body is the input as it was sent, its ids
// in canonical form; fields left out stay out (omitzero), so that two bodies are the same if they are the same JSON values.
func NewRequest(agent, id uuid.UUID, action string, about uuid.UUID, body any) (Request, error) {
	raw, err := wire.Marshal(body)
	if err != nil {
		return Request{}, err
	}
	sum := sha256.New()
	sum.Write([]byte(action + "\n"))
	sum.Write(about[:])
	sum.Write(raw)
	return Request{agent, id, sum.Sum(nil)}, nil
}

// Answer is embedded in the result of a request. It holds the exact bytes of the answer, the same for every repeat.
type Answer struct {
	wire.Replay

	body []byte
}

// NewAnswer makes the answer {"name": value}.
func NewAnswer(name string, value any) (Answer, error) {
	body, err := wire.Marshal(map[string]any{name: value})
	return Answer{body: body}, err
}

// Text is the answer as JSON.
func (a Answer) Text() string { return string(a.body) }

// MarshalJSON returns the exact answer.
func (a Answer) MarshalJSON() ([]byte, error) { return a.body, nil }

func (a *Answer) repeat(body []byte) { *a = Answer{wire.Replayed(), body} }

// Stored is the record of a request that took effect, as a statement reads it from operations. Result is nil if there is none.
type Stored struct {
	Hash   []byte `db:"request_hash"`
	Result []byte `db:"result"`
}

// Repeated returns the stored answer of a request, idempotency_conflict if another request is stored under its id, or nil if none is.
func Repeated[R any, P interface {
	*R
	repeat(body []byte)
}](r Request, stored Stored) (P, error) {
	if stored.Result == nil {
		return nil, nil
	}
	if !bytes.Equal(stored.Hash, r.Hash) {
		return nil, fault.New(fault.IdempotencyConflict)
	}
	made := P(new(R))
	if err := json.Unmarshal(stored.Result, made); err != nil {
		return nil, err
	}
	made.repeat(stored.Result)
	return made, nil
}

// Store keeps the answer of a request, in the transaction in which it takes effect. A deletion of the agent finds the answer of a
// rating by its id. It returns ErrStale if another request has taken the request's id.
func (r Request) Store(ctx context.Context, tx *db.Tx, id uuid.UUID, at time.Time, answer Answer) error {
	err := tx.Ent.Operation.Create().SetID(id).SetCreatedAt(at).SetBotID(r.Agent).SetOperationID(r.ID).SetRequestHash(r.Hash).
		SetResult(answer.body).Exec(ctx)
	return IfTaken(err)
}

// IfTaken makes ErrStale of the error of a statement that found the request's id taken.
func IfTaken(err error) error {
	if db.Violates(err, "operation_bot_id_operation_id") {
		return ErrStale
	}
	return err
}
