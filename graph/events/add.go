package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/wire"
)

// Event is one event for one recipient.
type Event struct {
	Recipient uuid.UUID
	Kind      Kind
	// Payload is one of the payload structs of this package.
	Payload any
	// ContactID and MessageID are set on message.created: a block of the contact deletes it, and delivery reads the message.
	ContactID *uuid.UUID
	MessageID *uuid.UUID
}

// Add writes events in the transaction that causes them and wakes their recipients after its commit.
func (a *API) Add(ctx context.Context, tx *db.Tx, events ...Event) error {
	n := len(events)
	ids, recipients, kinds, payloads := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]string, n), make([][]byte, n)
	contacts, messages := make([]*string, n), make([]*string, n)
	for i, e := range events {
		payload, err := wire.Marshal(e.Payload)
		if err != nil {
			return err
		}
		ids[i], recipients[i], kinds[i], payloads[i] = eventid.New(e.Recipient), e.Recipient, string(e.Kind), payload
		contacts[i], messages[i] = optional(e.ContactID), optional(e.MessageID)
	}
	_, err := tx.SQL.ExecContext(ctx, named("insert_events").Text, db.IDs(ids), db.IDs(recipients), pq.Array(kinds), pq.ByteaArray(payloads),
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

// WakeWaiting wakes every connected agent that was sent an event in the last minute and has not acknowledged it, and returns the
// number of these agents. A job calls it every second, because a wake-up is lost if a process dies between commit and notice.
func (a *API) WakeWaiting(ctx context.Context) (int, error) {
	recipients, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("select_waiting"))
	if err == nil && len(recipients) > 0 {
		a.Wake(recipients)
	}
	return len(recipients), err
}
