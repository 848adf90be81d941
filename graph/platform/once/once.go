// Package once makes requests take effect once (§1.7). Each carries an id chosen by the agent; create, select and all actions of
// orders, drafts, their replies and ratings share one space of ids. The first request that takes effect stores its answer with a
// hash of the request. A repeat of the request gets that answer; a different request with the same id gets idempotency_conflict.
// A failed request stores nothing.
package once

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// ErrStale reports that the data on which a decision was based had changed when the request wrote, for example because another
// request took its id.
var ErrStale = errors.New("once: the snapshot is stale")

// attempts bounds how often a request is decided. The second attempt sees the change that made the first one stale.
const attempts = 3

// Do runs a request in a transaction. lock makes identical requests wait for each other and protects the data of decide; nil
// locks nothing. decide reads a snapshot with the stored answer, decides, and writes. If it returns ErrStale, Do starts again.
func Do[R any](
	ctx context.Context, on *db.DB, lock *db.Statement, args []any, decide func(ctx context.Context, tx *db.Tx) (*R, error),
) (*R, error) {
	for range attempts {
		made, err := db.Change(ctx, on, func(ctx context.Context, tx *db.Tx) (*R, error) {
			if lock != nil {
				if err := db.Exec(ctx, tx.SQL, lock, args...); err != nil {
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

// Attempt is Do for a request with at most one writing statement, which checks its conditions again. It first runs decide without
// a transaction, and if that fails, under the lock, because an identical concurrent request may be the cause. This saves the
// three round trips of BEGIN, the lock and COMMIT.
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
	// Hash differs if the action, the object or the body differs.
	Hash []byte
}

// sentIDs matches the members of a body that hold ids. It matches nothing inside a text, where quotation marks are escaped.
var sentIDs = regexp.MustCompile(`"\w+_ids?":(?:"[^"]*"|\[[^\]]*\])`)

// NewRequest makes a Request. about is the object of the action, uuid.Nil for none. body is the checked input as sent, without
// fields that were left out (omitzero): two bodies are equal if their JSON values are. The case of an id does not count (§1.3).
func NewRequest(agent, id uuid.UUID, action string, about uuid.UUID, body any) (Request, error) {
	raw, err := wire.Marshal(body)
	if err != nil {
		return Request{}, err
	}
	sum := sha256.New()
	sum.Write([]byte(action + "\n"))
	sum.Write(about[:])
	sum.Write(sentIDs.ReplaceAllFunc(raw, bytes.ToLower))
	return Request{agent, id, sum.Sum(nil)}, nil
}

// Answer is embedded in the result of a request. It holds the exact bytes of the answer, which are the same for every repeat.
type Answer struct {
	wire.Replay

	body []byte
}

// NewAnswer makes the answer {"name": value}.
func NewAnswer(name string, value any) (Answer, error) {
	body, err := wire.Marshal(map[string]any{name: value})
	return Answer{body: body}, err
}

// JSON returns the exact answer.
func (a Answer) JSON() []byte { return a.body }

// MarshalJSON returns the exact answer.
func (a Answer) MarshalJSON() ([]byte, error) { return a.body, nil }

func (a *Answer) repeat(body []byte) { *a = Answer{wire.Replayed(), body} }

// Stored is the record of a request in the table operations. Result is nil if there is no record.
type Stored struct {
	Hash   []byte `db:"request_hash"`
	Result []byte `db:"result"`
}

// Repeated returns the stored answer of a request, idempotency_conflict if another request has its id, or nil if no request has.
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

// Store stores the answer of a request in the transaction in which it takes effect. id is the id of the record; the deletion of
// an agent finds the answer of a rating by it. Store returns ErrStale if another request has taken the request's id.
func (r Request) Store(ctx context.Context, tx *db.Tx, id uuid.UUID, at time.Time, answer Answer) error {
	err := tx.Ent.Operation.Create().SetID(id).SetCreatedAt(at).SetBotID(r.Agent).SetOperationID(r.ID).SetRequestHash(r.Hash).
		SetResult(answer.body).Exec(ctx)
	return IfTaken(err)
}

// IfTaken returns ErrStale if err means that the request's id is taken, and err otherwise.
func IfTaken(err error) error {
	if db.Violates(err, "operation_bot_id_operation_id") {
		return ErrStale
	}
	return err
}
