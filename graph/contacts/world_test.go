package contacts_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
)

// outboxEvent is one event of an agent's outbox.
type outboxEvent struct {
	Kind    events.Kind
	Payload events.ContactPayload
}

// outbox returns the events of an agent, oldest first.
func outbox(t testing.TB, w *graphtest.World, agent *graphtest.Agent) []outboxEvent {
	t.Helper()
	rows, err := w.DB.SQL.QueryContext(context.Background(), "SELECT kind, payload FROM events WHERE recipient_id = $1 ORDER BY sequence", agent.ID)
	require.NoError(t, err)
	defer rows.Close()
	all := []outboxEvent{}
	for rows.Next() {
		var (
			one     outboxEvent
			payload []byte
		)
		require.NoError(t, rows.Scan(&one.Kind, &payload))
		require.NoError(t, json.Unmarshal(payload, &one.Payload))
		all = append(all, one)
	}
	require.NoError(t, rows.Err())
	return all
}

// ask requests friendship with an agent.
func ask(w *graphtest.World, from *graphtest.Agent, to uuid.UUID) (*contacts.ContactResult, error) {
	return w.Contacts.RequestContact(from.Ctx, contacts.RequestInput{RecipientID: graphtest.Ptr(to.String())})
}

// act calls AcceptContact or BlockContact.
type act func(context.Context, contacts.ActInput) (*contacts.ContactResult, error)

func on(id uuid.UUID) contacts.ActInput { return contacts.ActInput{ContactID: id.String()} }
