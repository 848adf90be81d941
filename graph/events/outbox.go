package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/db"
	"stoa/graph/wire"
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
	// Wake is told the recipients of events that have just been committed. It must not block.
	Wake func(recipients []uuid.UUID)
	// Messages is how an event of a message gets its record.
	Messages Completion
}

// Completion is what another domain adds to the one statement that reads events, so that one round trip is all there is between a
// wake-up and a frame.
type Completion struct {
	statement string
	row       func() Record
}

// Complete makes a Completion of a query, which selects one row or none for the event e, by e.message_id: none where the record may
// not be delivered any more.
func Complete(query string, row func() Record) Completion {
	return Completion{pending + query + completed, row}
}

// Record is where a row of a Completion goes.
type Record interface {
	// Columns are where its columns go. All of them are null where there is no row.
	Columns() []any
	// JSON is the record as it goes over the wire, nil where there was no row.
	JSON() ([]byte, error)
}

const add = `
INSERT INTO events (id, recipient_id, kind, payload, contact_id, message_id, created_at)
SELECT id, recipient_id, kind, payload, contact_id, message_id, stoa_now()
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::uuid[], $6::uuid[]) WITH ORDINALITY
  AS e (id, recipient_id, kind, payload, contact_id, message_id, position)
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
		ids[i], recipients[i], to[i], kinds[i], payloads[i] = uuid.Must(uuid.NewV7()).String(), e.Recipient, e.Recipient.String(), string(e.Kind), payload
		contacts[i], messages[i] = optional(e.ContactID), optional(e.MessageID)
	}
	_, err := tx.SQL.ExecContext(ctx, add, pq.Array(ids), pq.Array(to), pq.Array(kinds), pq.ByteaArray(payloads), pq.Array(contacts), pq.Array(messages))
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
