package events

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// AcknowledgeInput names the events that its sender has stored durably: 1 to WindowSize.
type AcknowledgeInput struct {
	EventIDs []string `json:"event_ids"`
}

// Acknowledgement holds the result for each id once, in the order of the request.
type Acknowledgement struct {
	// Acked holds the ids that are acknowledged, now or before.
	Acked []uuid.UUID `json:"acked"`
	// Unknown holds the ids that belong to no event of the caller.
	Unknown []uuid.UUID `json:"unknown"`
}

// check returns the ids, each once.
func (in AcknowledgeInput) check() ([]uuid.UUID, error) {
	if len(in.EventIDs) == 0 || len(in.EventIDs) > WindowSize {
		return nil, fault.Field(fault.InvalidInput, "event_ids", fmt.Sprintf("must hold 1 to %d ids", WindowSize))
	}
	ids := make([]uuid.UUID, 0, len(in.EventIDs))
	for _, sent := range in.EventIDs {
		id, err := text.UUID(sent)
		if err != nil {
			return nil, fault.Field(fault.InvalidInput, "event_ids", err.Error())
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// AcknowledgeEvents acknowledges events of the caller (§4.10). An acknowledgement holds for all connections of the agent. Only an
// agent may call it; it may be repeated. Fault: invalid_input.
func (a *API) AcknowledgeEvents(ctx context.Context, in AcknowledgeInput) (*Acknowledgement, error) {
	v, ids, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	deleted, err := a.Acknowledge(ctx, v.BotID, ids)
	if err != nil {
		return nil, err
	}
	result := &Acknowledgement{Acked: []uuid.UUID{}, Unknown: []uuid.UUID{}}
	for _, id := range ids {
		if eventid.IsOf(v.BotID, id) || slices.Contains(deleted, id) {
			result.Acked = append(result.Acked, id)
		} else {
			result.Unknown = append(result.Unknown, id)
		}
	}
	return result, nil
}

// Acknowledge deletes events that their recipient has stored durably, and notifies the recipient's connections. After it has
// returned, no new connection receives them again. It ignores events that are already deleted or belong to another recipient, and
// returns the events that it deleted.
func (a *API) Acknowledge(ctx context.Context, recipient uuid.UUID, ids []uuid.UUID) (deleted []uuid.UUID, err error) {
	deleted, err = db.Column[uuid.UUID](ctx, a.DB.SQL, named("acknowledge_events"), recipient, db.IDs(ids))
	if err == nil && len(deleted) > 0 {
		a.Acknowledged(recipient, deleted)
	}
	return deleted, err
}

// AcknowledgeDelivered acknowledges an event that was delivered by other means than a connection, in the transaction that stores
// the delivery. It notifies the recipient's connections after the commit, and ignores an event that is already deleted.
func (a *API) AcknowledgeDelivered(ctx context.Context, tx *db.Tx, recipient, id uuid.UUID) error {
	deleted, err := db.Column[uuid.UUID](ctx, tx.SQL, named("acknowledge_events"), recipient, db.IDs([]uuid.UUID{id}))
	if err == nil && len(deleted) > 0 {
		tx.AfterCommit(func() { a.Acknowledged(recipient, deleted) })
	}
	return err
}
