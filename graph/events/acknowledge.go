package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Ack is an event that its recipient has stored durably.
type Ack struct {
	Recipient uuid.UUID
	EventID   uuid.UUID
}

const acknowledge = `
DELETE FROM events e USING unnest($1::uuid[], $2::uuid[]) AS a (id, recipient_id)
WHERE e.id = a.id AND e.recipient_id = a.recipient_id`

// Acknowledge forgets events, those of many recipients at once. Once it has returned no connection that opens is sent them
// again. An event that is gone already, or is another recipient's, changes nothing.
func (a *API) Acknowledge(ctx context.Context, acks []Ack) error {
	ids, recipients := make([]string, len(acks)), make([]string, len(acks))
	for i, ack := range acks {
		ids[i], recipients[i] = ack.EventID.String(), ack.Recipient.String()
	}
	_, err := a.DB.SQL.ExecContext(ctx, acknowledge, pq.Array(ids), pq.Array(recipients))
	return err
}
