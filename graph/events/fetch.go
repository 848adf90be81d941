package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/messages"
	"stoa/graph/platform/db"
	"stoa/graph/platform/wire"
)

// Cursor says which of one recipient's unacknowledged events a connection reads next.
type Cursor struct {
	Recipient uuid.UUID
	// Version of the channel; kinds that came with a later one are left out.
	Version int
	// After is the sequence behind which the batch begins; 0 begins at the oldest event.
	After int64
	// Known is the sequence up to which the connection has read before. Events up to it come without their frames, and their
	// messages are not read.
	Known int64
	// Size is how many events the batch holds at most.
	Size int
}

// Queued is one unacknowledged event.
type Queued struct {
	ID       uuid.UUID
	Sequence int64
	// Frame is the event as it goes over the wire (§6); nil up to the cursor's Known.
	Frame []byte
}

// Batch is what a cursor found.
type Batch struct {
	// Events in the order of delivery.
	Events []Queued
	// More tells that there may be events behind the batch.
	More bool
	// Last is the largest sequence that was read; 0 where nothing was found.
	Last int64
}

// row is a row of fetch_events.
type row struct {
	// Cursor is the index of the row's cursor.
	Cursor   int       `db:"cursor"`
	ID       uuid.UUID `db:"id"`
	Sequence int64     `db:"sequence"`
	// Kind is nil for an event that the connection knows.
	Kind       *string `db:"kind"`
	Payload    []byte  `db:"payload"`
	HasMessage bool    `db:"has_message"`
	// Message has no id where the event has none, or one that may not be delivered any more.
	Message messages.Card `db:"message"`
}

// Fetch reads a batch for each cursor, in the order of the cursors. An event whose message has expired or whose contact is no longer
// accepted is deleted instead of being returned, because neither can be undone.
func (a *API) Fetch(ctx context.Context, cursors []Cursor) ([]Batch, error) {
	rows, err := a.fetchRows(ctx, cursors)
	if err != nil {
		return nil, err
	}
	batches, found := make([]Batch, len(cursors)), make([]int, len(cursors))
	var undeliverable []uuid.UUID
	for _, r := range rows {
		batch := &batches[r.Cursor]
		batch.Last = r.Sequence
		found[r.Cursor]++
		switch {
		case r.Kind == nil:
			batch.Events = append(batch.Events, Queued{ID: r.ID, Sequence: r.Sequence})
		case r.HasMessage && r.Message.ID == uuid.Nil:
			undeliverable = append(undeliverable, r.ID)
		default:
			frame, err := r.frame()
			if err != nil {
				return nil, err
			}
			batch.Events = append(batch.Events, Queued{ID: r.ID, Sequence: r.Sequence, Frame: frame})
		}
	}
	for i := range batches {
		batches[i].More = found[i] == cursors[i].Size
	}
	if len(undeliverable) > 0 {
		_, err = a.DB.SQL.ExecContext(ctx, deleteEvents.Text, db.IDs(undeliverable))
	}
	return batches, err
}

func (a *API) fetchRows(ctx context.Context, cursors []Cursor) (rows []*row, err error) {
	n := len(cursors)
	recipients, versions, sizes := make([]uuid.UUID, n), make([]int, n), make([]int, n)
	after, known := make([]int64, n), make([]int64, n)
	for i, c := range cursors {
		recipients[i], versions[i], after[i], known[i], sizes[i] = c.Recipient, c.Version, c.After, c.Known, c.Size
	}
	err = a.DB.QueryUncancelled(ctx, db.Into(&rows), fetchEvents.Text, db.IDs(recipients), pq.Array(versions), pq.Array(after),
		pq.Array(known), pq.Array(sizes), LatestVersion, pq.Array(latestKinds))
	return rows, err
}

// frame writes the envelope of §6. A message's record is added to the payload that was stored.
func (r *row) frame() ([]byte, error) {
	var message []byte
	if r.HasMessage {
		var err error
		if message, err = wire.Marshal(&r.Message); err != nil {
			return nil, err
		}
	}
	const fixed = len(`{"type":"event","event_id":"","kind":"","payload":,"message":}`) + 36
	b := make([]byte, 0, fixed+len(*r.Kind)+len(r.Payload)+len(message))
	b = append(b, `{"type":"event","event_id":"`...)
	b = append(b, r.ID.String()...)
	b = append(b, `","kind":"`...)
	b = append(b, *r.Kind...)
	b = append(b, `","payload":`...)
	b = append(b, r.Payload...)
	if message != nil {
		b = append(b[:len(b)-1], `,"message":`...)
		b = append(append(b, message...), '}')
	}
	return append(b, '}'), nil
}
