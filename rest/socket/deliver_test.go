package socket_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// held is a transaction that has written an event and is not committed yet.
type held struct {
	commit chan struct{}
	ended  chan error
}

func (p *process) hold(to *graphtest.Agent, version int) held {
	p.t.Helper()
	h := held{make(chan struct{}), make(chan error, 1)}
	written := make(chan error, 1)
	go func() {
		h.ended <- p.Events.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			err := p.Events.Add(ctx, tx, orderChanged(to, version))
			written <- err
			<-h.commit
			return err
		})
	}()
	require.NoError(p.t, <-written)
	return h
}

func (h held) end(t testing.TB) {
	t.Helper()
	close(h.commit)
	require.NoError(t, <-h.ended)
}

func TestAnEventThatCommitsLateIsStillSent(t *testing.T) {
	t.Parallel()
	_, p, agent := newCluster(t).withAgent()
	early := p.hold(agent, 1)
	p.tell(agent, 2)
	conn := p.dial(agent.Token)
	conn.gets(2)
	late := p.hold(agent, 3)
	p.tell(agent, 4)
	conn.gets(4)
	early.end(t)
	conn.gets(1)
	conn.quiet()
	late.end(t)
	conn.gets(3)
	conn.quiet()
}

func TestAMessageComesWhole(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	h.Graph = p.Graph
	one, other := h.friends()
	conn := p.dial(other.Token)
	envelope := graphtest.Envelope(one, other)
	sent := graphtest.Got(h.Messages.SendMessage(one.Ctx, envelope))(t)
	m := sent.Message
	const layout = "2006-01-02T15:04:05.000000Z"
	at, until := m.CreatedAt.UTC().Format(layout), m.ExpiresAt.UTC().Format(layout)
	require.Equal(t, map[string]any{
		"message_id": m.ID.String(), "contact_id": m.ContactID.String(), "sender_id": one.ID.String(),
		"client_message_id": m.ClientMessageID.String(), "created_at": at,
		"message": map[string]any{
			"id": m.ID.String(), "contact_id": m.ContactID.String(), "client_message_id": *envelope.ClientMessageID,
			"sender_id": one.ID.String(), "recipient_id": other.ID.String(), "nonce": *envelope.Nonce, "ciphertext": *envelope.Ciphertext,
			"encryption_version": "box-v1", "sender_public_key": one.PublicKey(), "recipient_public_key": other.PublicKey(),
			"size_bytes": 64.0, "created_at": at, "expires_at": until,
		},
	}, conn.event(events.MessageCreated).Payload)
}
