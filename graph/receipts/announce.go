package receipts

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
)

// notified is a participant who gets the event of a receipt.
type notified struct {
	ReceiptID   uuid.UUID `db:"id"`
	OrderID     uuid.UUID `db:"order_id"`
	Participant uuid.UUID `db:"participant"`
}

// Announce sends the participants of each receipt that has its proof the event, once, and returns how many receipts those were. A receipt
// that was added later than its order closed has no event: an upgrade would fill the queues with what happened long ago. It works in
// batches that each commit, may be repeated and stopped at any time, and run in several processes at once. Only jobs call it.
func (a *API) Announce(ctx context.Context) (announced int64, err error) {
	for {
		var batch []uuid.UUID
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if batch, err = db.Column[uuid.UUID](ctx, tx.SQL, takeProven, signBatch); err != nil || len(batch) == 0 {
				return err
			}
			found, err := db.All[notified](ctx, tx.SQL, readNotified, db.IDs(batch))
			if err != nil || len(found) == 0 {
				return err
			}
			all := make([]events.Event, len(found))
			for i, to := range found {
				all[i] = events.Event{
					Recipient: to.Participant, Kind: events.OrderReceipt,
					Payload: events.ReceiptPayload{OrderID: to.OrderID, ReceiptID: to.ReceiptID},
				}
			}
			return a.Events.Add(ctx, tx, all...)
		})
		announced += int64(len(batch))
		if err != nil || len(batch) < signBatch {
			return announced, err
		}
	}
}
