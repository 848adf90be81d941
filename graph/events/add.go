package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/wire"
)

// Event is one event for one recipient, of any kind but message.created, which stoa_send writes.
type Event struct {
	Recipient uuid.UUID
	Kind      Kind
	// Payload is one of the payload structs of this package.
	Payload any
}

// Add writes events in the transaction that causes them and wakes their recipients after its commit.
func (a *API) Add(ctx context.Context, tx *db.Tx, events ...Event) error {
	n := len(events)
	ids, recipients, kinds, payloads := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]string, n), make([][]byte, n)
	for i, e := range events {
		payload, err := wire.Marshal(e.Payload)
		if err != nil {
			return err
		}
		ids[i], recipients[i], kinds[i], payloads[i] = eventid.New(e.Recipient), e.Recipient, string(e.Kind), payload
	}
	err := db.Exec(ctx, tx.SQL, named("insert_events"), db.IDs(ids), db.IDs(recipients), pq.Array(kinds), pq.ByteaArray(payloads))
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { a.Wake(recipients) })
	return nil
}

// WakeWaiting wakes every connected agent that was sent an event in the last minute and has not acknowledged it, and returns the
// number of these agents. A job calls it every second, because a wake-up is lost if a process dies between commit and notice.
func (a *API) WakeWaiting(ctx context.Context) (int, error) {
	recipients, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("select_waiting"))
	if err == nil && len(recipients) > 0 {
		a.Wake(recipients)
	}
	return len(recipients), err
}

// DeleteStale deletes every event that will never be delivered: past its retention of 90 days, or announcing a message that has
// expired or whose contact is blocked (§3.2). It examines all events in batches, commits each batch, and returns the number of
// deleted events. A job calls it; it may be stopped at any time.
func (a *API) DeleteStale(ctx context.Context) (deleted int64, err error) {
	return a.DB.Walk(ctx, named("delete_stale"), Retention.Seconds())
}
