package graph

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/db"
	"stoa/graph/messages"
	"stoa/graph/wire"
)

// deliverable joins the outbox to the messages that complete its events: an event of a message carries the record as it is at
// delivery, and none where it may no longer be delivered.
func deliverable(d *db.DB) func(context.Context, []uuid.UUID) (map[uuid.UUID][]byte, error) {
	return func(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID][]byte, error) {
		cards, err := messages.Deliverable(ctx, d, ids)
		if err != nil {
			return nil, err
		}
		records := make(map[uuid.UUID][]byte, len(cards))
		for id, card := range cards {
			if records[id], err = wire.Marshal(card); err != nil {
				return nil, err
			}
		}
		return records, nil
	}
}
