package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/wire"
)

// Event is one event for one recipient.
type Event struct {
	Recipient uuid.UUID
	Kind      Kind
	// Payload is one of the payload structs of this package.
	Payload any
	// ContactID and MessageID are set on message.created: a blocked contact suppresses it, and delivery reads the message.
	ContactID *uuid.UUID
	MessageID *uuid.UUID
}

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Wake is told the recipients of events that have just been committed, Withdrawn the recipients of events that have been deleted
	// without an acknowledgement, which make room on their connections. Neither may block.
	Wake      func(recipients []uuid.UUID)
	Withdrawn func(recipients []uuid.UUID)
	// Messages is how an event of a message gets its record.
	Messages Completion
}

// Completion is what another domain adds to the statement that reads events, so that there is one round trip between a wake-up
// and a frame.
type Completion struct {
	statement string
	row       func() Record
}

// Complete makes a Completion of a query. The query selects the record of the event e by e.message_id, or no row where the
// record may not be delivered any more.
func Complete(query string, row func() Record) Completion {
	return Completion{selectQueued + query + selectQueuedEnd, row}
}

// Record receives a row of a Completion.
type Record interface {
	// Columns are the targets of a scan. All columns are null where there is no row.
	Columns() []any
	// JSON is the record as it goes over the wire, nil where there was no row.
	JSON() ([]byte, error)
}

// insertEvents draws sequences in the order of the events. Its condition is always true and evaluated first: it gives the
// transaction its number before a sequence is drawn, as Horizon requires of everything that writes events.
const insertEvents = `
INSERT INTO events (id, recipient_id, kind, payload, contact_id, message_id, created_at)
SELECT id, recipient_id, kind, payload, contact_id, message_id, stoa_now()
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::uuid[], $6::uuid[]) WITH ORDINALITY
  AS e (id, recipient_id, kind, payload, contact_id, message_id, position)
WHERE pg_current_xact_id() IS NOT NULL
ORDER BY position`

// Add writes events in the transaction that causes them and wakes their recipients once it is committed.
func (a *API) Add(ctx context.Context, tx *db.Tx, events ...Event) error {
	n := len(events)
	ids, recipients, kinds := make([]string, n), make([]uuid.UUID, n), make([]string, n)
	to, payloads := make([]string, n), make([][]byte, n)
	contacts, messages := make([]*string, n), make([]*string, n)
	for i, e := range events {
		payload, err := wire.Marshal(e.Payload)
		if err != nil {
			return err
		}
		ids[i], recipients[i], to[i] = uuid.Must(uuid.NewV7()).String(), e.Recipient, e.Recipient.String()
		kinds[i], payloads[i] = string(e.Kind), payload
		contacts[i], messages[i] = optional(e.ContactID), optional(e.MessageID)
	}
	_, err := tx.SQL.ExecContext(ctx, insertEvents, pq.Array(ids), pq.Array(to), pq.Array(kinds), pq.ByteaArray(payloads),
		pq.Array(contacts), pq.Array(messages))
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { a.Wake(recipients) })
	return nil
}

func optional(id *uuid.UUID) *string {
	if id == nil {
		return nil
	}
	s := id.String()
	return &s
}
