package events

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Ack is an event that its recipient has stored durably.
type Ack struct {
	Recipient uuid.UUID
	EventID   uuid.UUID
}

// Acknowledge deletes events, those of many recipients at once, for connections of a process. Once it has returned, no connection that
// opens is sent them again. An event that is gone already, or is another recipient's, changes nothing. It returns the recipients that
// may also be connected to other processes.
func (a *API) Acknowledge(ctx context.Context, process int32, acks []Ack) (elsewhere []uuid.UUID, err error) {
	ids, recipients := make([]uuid.UUID, len(acks)), make([]uuid.UUID, len(acks))
	for i, ack := range acks {
		ids[i], recipients[i] = ack.EventID, ack.Recipient
	}
	return db.Column[uuid.UUID](ctx, a.DB.SQL, deleteAcknowledged, db.IDs(ids), db.IDs(recipients), process)
}
