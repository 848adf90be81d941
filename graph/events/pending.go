package events

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Window is the part of one recipient's unacknowledged events that a connection wants to see.
type Window struct {
	Recipient uuid.UUID
	// Version of the channel; kinds that came later are passed over.
	Version int
	// After is the sequence behind which the window begins; 0 begins at the oldest event.
	After int64
	// Size is how many events the window holds at most.
	Size int
	// Sent tells which events the connection has received already; their frames are not made.
	Sent func(id uuid.UUID) bool
	// Pending are those of Sent that may still be there; not even their messages are read.
	Pending []uuid.UUID
}

// Pending is an unacknowledged event.
type Pending struct {
	ID       uuid.UUID
	Sequence int64
	// Frame is the event as it goes over the wire (§6), nil where the window says it was sent.
	Frame []byte
}

// View is what a window showed.
type View struct {
	// Pending are the events in the order of delivery.
	Pending []Pending
	// Last is the sequence up to which nothing was left out; More tells that there may be events behind it.
	Last int64
	More bool
}

// pending and completed read the windows of many connections at once, each off the index, in the order of delivery, and the messages
// of those events that are to be sent, each by its key: the limit keeps the planner from reading them in any other way.
const pending = `
SELECT w.position - 1, e.id, e.sequence, e.kind, e.payload, e.announced, m.*
FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::integer[]) WITH ORDINALITY AS w (recipient_id, version, after, size, position)
CROSS JOIN LATERAL (
  SELECT i.id, i.sequence, i.kind, i.payload, i.message_id AS announced, CASE WHEN i.id <> ALL ($7::uuid[]) THEN i.message_id END AS message_id
  FROM events i WHERE i.recipient_id = w.recipient_id AND i.sequence > w.after
    AND (w.version >= $5 OR i.kind <> ALL ($6::text[]))
  ORDER BY i.sequence LIMIT w.size
) e
LEFT JOIN LATERAL (`

const completed = `
LIMIT 1) m ON true
ORDER BY w.position, e.sequence`

// row is one event of one window as it is stored.
type row struct {
	window   int
	id       uuid.UUID
	sequence int64
	kind     Kind
	payload  []byte
	message  uuid.NullUUID
	record   []byte
}

// Look reads windows, one view for each in their order. A message that has expired or whose contact is no longer accepted is
// not shown: its event is dropped, since neither can be undone. It checks no caller.
func (a *API) Look(ctx context.Context, windows []Window) ([]View, error) {
	rows, err := a.rows(ctx, windows)
	if err != nil {
		return nil, err
	}
	views := make([]View, len(windows))
	seen := make([]int, len(windows))
	var undeliverable []string
	for _, r := range rows {
		view := &views[r.window]
		view.Last = r.sequence
		seen[r.window]++
		shown := Pending{ID: r.id, Sequence: r.sequence}
		if !windows[r.window].Sent(r.id) {
			if r.message.Valid && r.record == nil {
				undeliverable = append(undeliverable, r.id.String())
				continue
			}
			shown.Frame = r.frame()
		}
		view.Pending = append(view.Pending, shown)
	}
	for i := range views {
		views[i].More = seen[i] == windows[i].Size
	}
	if len(undeliverable) > 0 {
		_, err = a.DB.SQL.ExecContext(ctx, "DELETE FROM events WHERE id = ANY ($1::uuid[])", pq.Array(undeliverable))
	}
	return views, err
}

func (a *API) rows(ctx context.Context, windows []Window) ([]row, error) {
	recipients, versions := make([]string, len(windows)), make([]int, len(windows))
	afters, sizes := make([]int64, len(windows)), make([]int, len(windows))
	sent := []string{}
	for i, w := range windows {
		recipients[i], versions[i], afters[i], sizes[i] = w.Recipient.String(), w.Version, w.After, w.Size
		for _, id := range w.Pending {
			sent = append(sent, id.String())
		}
	}
	var rows []row
	err := a.DB.QueryUncancelled(ctx, func(found *sql.Rows) error {
		var r row
		message := a.Messages.row()
		err := found.Scan(append([]any{&r.window, &r.id, &r.sequence, &r.kind, &r.payload, &r.message}, message.Columns()...)...)
		if err != nil {
			return err
		}
		r.record, err = message.JSON()
		rows = append(rows, r)
		return err
	}, a.Messages.statement, pq.Array(recipients), pq.Array(versions), pq.Array(afters), pq.Array(sizes),
		LatestVersion, pq.Array(latestKinds), pq.Array(sent))
	return rows, err
}

// frame writes the envelope of §6. A message's record goes into the payload beside what was stored.
func (r row) frame() []byte {
	b := make([]byte, 0, len(`{"type":"event","event_id":"","kind":"","payload":,"message":}`)+36+len(r.kind)+len(r.payload)+len(r.record))
	b = append(b, `{"type":"event","event_id":"`...)
	b = append(b, r.id.String()...)
	b = append(b, `","kind":"`...)
	b = append(b, r.kind...)
	b = append(b, `","payload":`...)
	b = append(b, r.payload...)
	if r.record != nil {
		b = append(b[:len(b)-1], `,"message":`...)
		b = append(append(b, r.record...), '}')
	}
	return append(b, '}')
}
