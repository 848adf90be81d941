package messages

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/db"
)

const deliverable = `SELECT ` + columns + `
FROM messages m JOIN contacts c ON c.id = m.contact_id
WHERE m.id = ANY ($1::uuid[]) AND m.expires_at > stoa_now() AND c.state = 'accepted'`

// Deliverable returns those of the messages that may still be delivered: not expired, their contact still accepted (contract
// §8). It completes message.created events and checks no caller; what is missing from the answer is not sent.
func Deliverable(ctx context.Context, d *db.DB, ids []uuid.UUID) (map[uuid.UUID]*Card, error) {
	wanted := make([]string, len(ids))
	for i, id := range ids {
		wanted[i] = id.String()
	}
	rows, err := d.SQL.QueryContext(ctx, deliverable, pq.Array(wanted))
	if err != nil {
		return nil, err
	}
	found, err := scan(rows)
	if err != nil {
		return nil, err
	}
	cards := make(map[uuid.UUID]*Card, len(found))
	for _, c := range found {
		cards[c.ID] = c
	}
	return cards, nil
}
