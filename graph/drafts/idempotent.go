package drafts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// errTaken reports that another request, on another order, took the operation id since the snapshot was read.
var errTaken = errors.New("drafts: the operation id is taken")

// attempts bounds how often a request decides again; the second attempt finds what the other request stored.
const attempts = 2

// writer decides and writes one draft or reply. It returns the draft as it is then and the event that announces it.
type writer func(ctx context.Context, tx *db.Tx, s *snapshot) (*row, events.Event, error)

// run takes effect once under an operation id: it locks the order, answers a repeat with the stored answer, and otherwise lets write
// decide. Faults: idempotency_conflict, not_found (the caller is no participant of the order), those of write.
func (a *API) run(ctx context.Context, caller uuid.UUID, r request, write writer) (*Result, error) {
	for range attempts {
		var made *Result
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			made, err = a.attempt(ctx, tx, caller, r, write)
			return err
		})
		if !errors.Is(err, errTaken) {
			return made, err
		}
	}
	return nil, fault.New(fault.ServiceUnavailable)
}

func (a *API) attempt(ctx context.Context, tx *db.Tx, caller uuid.UUID, r request, write writer) (*Result, error) {
	if _, err := tx.SQL.ExecContext(ctx, lockOrder.Text, r.orderID, caller); err != nil {
		return nil, err
	}
	s, err := db.One[snapshot](ctx, tx.SQL, selectForDraft, r.orderID, caller, r.operationID)
	switch {
	case err != nil:
		return nil, err
	case s.Result != nil && bytes.Equal(s.Hash, r.hash):
		kept := &Result{Replay: wire.Replayed(), body: s.Result}
		return kept, json.Unmarshal(s.Result, kept)
	case s.Result != nil:
		return nil, fault.New(fault.IdempotencyConflict)
	case s.State == nil:
		return nil, fault.New(fault.NotFound)
	}
	draft, announcement, err := write(ctx, tx, s)
	if err != nil {
		return nil, err
	}
	shown, err := cards(ctx, tx.SQL, caller, draft)
	if err != nil {
		return nil, err
	}
	made := &Result{Draft: shown[0]}
	if made.body, err = wire.Marshal(struct {
		Draft *Card `json:"draft"`
	}{made.Draft}); err != nil {
		return nil, err
	}
	err = tx.Ent.Operation.Create().SetID(uuid.Must(uuid.NewV7())).SetCreatedAt(s.Now).SetBotID(caller).
		SetOperationID(r.operationID).SetRequestHash(r.hash).SetResult(made.body).Exec(ctx)
	if db.Violates(err, "operation_bot_id_operation_id") {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	return made, a.Events.Add(ctx, tx, announcement)
}
