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

// deleteAcknowledged deletes events and returns which of their recipients hold leases of other processes.
const deleteAcknowledged = `
WITH acks AS MATERIALIZED (SELECT id, recipient_id FROM unnest($1::uuid[], $2::uuid[]) AS a (id, recipient_id)),
gone AS (DELETE FROM events e USING acks a WHERE e.id = a.id AND e.recipient_id = a.recipient_id)
SELECT DISTINCT l.bot_id FROM acks a JOIN socket_leases l ON l.bot_id = a.recipient_id WHERE l.process <> $3`

// Acknowledge deletes events, those of many recipients at once, on behalf of a process. Once it has returned, no connection that
// opens is sent them again. An event that is gone already, or is another recipient's, changes nothing. It returns the recipients
// that may also be connected to other processes.
func (a *API) Acknowledge(ctx context.Context, process int32, acks []Ack) (elsewhere []uuid.UUID, err error) {
	ids, recipients := make([]string, len(acks)), make([]string, len(acks))
	for i, ack := range acks {
		ids[i], recipients[i] = ack.EventID.String(), ack.Recipient.String()
	}
	return a.recipients(ctx, deleteAcknowledged, pq.Array(ids), pq.Array(recipients), process)
}

// recipients runs a statement that returns agents.
func (a *API) recipients(ctx context.Context, query string, args ...any) (list []uuid.UUID, err error) {
	rows, err := a.DB.SQL.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, rows.Err()
}
