package events

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Cursor says which of one recipient's unacknowledged events a connection wants to read next.
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
	// Last is the largest sequence that was looked at; 0 where nothing was found.
	Last int64
}

// selectQueued and selectQueuedEnd enclose the query of a Completion. They read the batches of many cursors at once, each off the
// index on recipient and sequence, and the message of each event that has one by its key; LIMIT 1 keeps the planner from any
// other plan. What a statement reads depends on the sizes of the batches and not on how many events are in flight.
const (
	selectQueued = `
SELECT c.position - 1, e.id, e.sequence, e.kind, e.payload, e.message_id, m.*
FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::bigint[], $5::integer[])
  WITH ORDINALITY AS c (recipient_id, version, after, known, size, position)
CROSS JOIN LATERAL (
  SELECT i.id, i.sequence, CASE WHEN i.sequence > c.known THEN i.kind END AS kind,
    CASE WHEN i.sequence > c.known THEN i.payload END AS payload,
    CASE WHEN i.sequence > c.known THEN i.message_id END AS message_id
  FROM events i WHERE i.recipient_id = c.recipient_id AND i.sequence > c.after
    AND (c.version >= $6 OR i.kind <> ALL ($7::text[]))
  ORDER BY i.sequence LIMIT c.size
) e
LEFT JOIN LATERAL (`

	selectQueuedEnd = `
LIMIT 1) m ON true
ORDER BY c.position, e.sequence`
)

// row is one event as it is stored.
type row struct {
	cursor   int
	id       uuid.UUID
	sequence int64
	kind     sql.NullString
	payload  []byte
	message  uuid.NullUUID
	record   []byte
}

// Fetch reads a batch for each cursor, in the order of the cursors. An event whose message has expired or whose contact is no
// longer accepted is deleted instead of being returned, because neither can be undone. It does not check who calls.
func (a *API) Fetch(ctx context.Context, cursors []Cursor) ([]Batch, error) {
	rows, err := a.fetchRows(ctx, cursors)
	if err != nil {
		return nil, err
	}
	batches, found := make([]Batch, len(cursors)), make([]int, len(cursors))
	var undeliverable []string
	for _, r := range rows {
		batch := &batches[r.cursor]
		batch.Last = r.sequence
		found[r.cursor]++
		switch {
		case !r.kind.Valid:
			batch.Events = append(batch.Events, Queued{ID: r.id, Sequence: r.sequence})
		case r.message.Valid && r.record == nil:
			undeliverable = append(undeliverable, r.id.String())
		default:
			batch.Events = append(batch.Events, Queued{ID: r.id, Sequence: r.sequence, Frame: r.frame()})
		}
	}
	for i := range batches {
		batches[i].More = found[i] == cursors[i].Size
	}
	if len(undeliverable) > 0 {
		_, err = a.DB.SQL.ExecContext(ctx, "DELETE FROM events WHERE id = ANY ($1::uuid[])", pq.Array(undeliverable))
	}
	return batches, err
}

func (a *API) fetchRows(ctx context.Context, cursors []Cursor) ([]row, error) {
	n := len(cursors)
	recipients, versions, sizes := make([]string, n), make([]int, n), make([]int, n)
	after, known := make([]int64, n), make([]int64, n)
	for i, c := range cursors {
		recipients[i], versions[i], after[i], known[i], sizes[i] = c.Recipient.String(), c.Version, c.After, c.Known, c.Size
	}
	var rows []row
	err := a.DB.QueryUncancelled(ctx, func(found *sql.Rows) error {
		var r row
		message := a.Messages.row()
		err := found.Scan(append([]any{&r.cursor, &r.id, &r.sequence, &r.kind, &r.payload, &r.message}, message.Columns()...)...)
		if err != nil {
			return err
		}
		r.record, err = message.JSON()
		rows = append(rows, r)
		return err
	}, a.Messages.statement, pq.Array(recipients), pq.Array(versions), pq.Array(after), pq.Array(known), pq.Array(sizes),
		LatestVersion, pq.Array(latestKinds))
	return rows, err
}

// frame writes the envelope of §6. A message's record goes into the payload beside what was stored.
func (r row) frame() []byte {
	const fixed = len(`{"type":"event","event_id":"","kind":"","payload":,"message":}`) + 36
	b := make([]byte, 0, fixed+len(r.kind.String)+len(r.payload)+len(r.record))
	b = append(b, `{"type":"event","event_id":"`...)
	b = append(b, r.id.String()...)
	b = append(b, `","kind":"`...)
	b = append(b, r.kind.String...)
	b = append(b, `","payload":`...)
	b = append(b, r.payload...)
	if r.record != nil {
		b = append(b[:len(b)-1], `,"message":`...)
		b = append(append(b, r.record...), '}')
	}
	return append(b, '}')
}
