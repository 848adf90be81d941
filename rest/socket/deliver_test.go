package socket_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

func TestEventsComeInOrderBeforeAndAfterConnecting(t *testing.T) {
	t.Parallel()
	_, p, agent := sharedCluster(t).withAgent()
	p.tell(agent, 1, 2, 3)
	conn := p.dial(agent.Token)
	first := conn.event(events.OrderChanged)
	require.Equal(t, map[string]any{"order_id": agent.ID.String(), "status": "funded", "version": 1.0}, first.Payload)
	graphtest.OK(t)(uuid.Parse(first.EventID))
	conn.gets(2, 3)
	p.tell(agent, 4)
	p.tell(agent, 5, 6)
	conn.gets(4, 5, 6)
	conn.quiet()
}

func TestUnacknowledgedEventsComeAgainUnderTheirIDs(t *testing.T) {
	t.Parallel()
	h, p, agent := sharedCluster(t).withAgent()
	p.tell(agent, 1, 2, 3)
	first := p.dial(agent.Token)
	ids := first.gets(1, 2, 3)
	first.acked(ids[1])
	first.hangUp()

	second := p.dial(agent.Token)
	require.Equal(t, []string{ids[0], ids[2]}, second.gets(1, 3))
	second.acked(ids[0])
	second.acked(ids[2])
	second.hangUp()

	p.dial(agent.Token).quiet()
	require.Zero(t, h.unacknowledged(agent))
}

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

// Writers race with each other, with acks and with the horizon; every committed event arrives exactly once.
func TestRacingWritersLoseNothing(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	processes := []*process{h.process(), h.process()}
	rapid.Check(t, func(rt *rapid.T) {
		agent := h.Agent()
		conn := processes[0].dial(agent.Token)
		defer conn.hangUp()
		var (
			open    []held
			told    int
			arrived = make(map[int]int)
			seen    []string
		)
		defer func() {
			for _, transaction := range open {
				transaction.end(t)
			}
		}()
		note := func(a arrival) {
			require.NoError(rt, a.err)
			var f frame
			require.NoError(rt, json.Unmarshal(a.raw, &f))
			if f.Type == "event" {
				arrived[f.version()]++
				seen = append(seen, f.EventID)
			}
		}
		take := func(n int) {
			for range n {
				i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
				open[i].end(t)
				open = append(open[:i:i], open[i+1:]...)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": func(rt *rapid.T) {
				if len(open) < 4 {
					told++
					p := processes[rapid.IntRange(0, 1).Draw(rt, "on")]
					open = append(open, p.hold(agent, told))
				}
			},
			"commit": func(*rapid.T) { take(min(1, len(open))) },
			"ack": func(*rapid.T) {
				if len(seen) > 0 {
					conn.ack(seen[0])
					seen = seen[1:]
				}
			},
			"listen": func(*rapid.T) {
				for len(conn.arrivals) > 0 {
					note(<-conn.arrivals)
				}
			},
		})
		take(len(open))
		for len(arrived) < told {
			note(conn.arrive())
		}
		for version, times := range arrived {
			require.Equal(rt, 1, times, "event %d", version)
		}
	})
}

func TestContactEvents(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	h.Graph = p.Graph
	asker, asked := h.Agent(), h.Agent()
	from, to := p.dial(asker.Token), p.dial(asked.Token)
	contact := h.Asked(asker, asked)
	require.Equal(t, map[string]any{"contact_id": contact.String(), "bot_id": asker.ID.String(), "friendship_status": "incoming"},
		to.event(events.ContactRequested).Payload)
	graphtest.OK(t)(h.Contacts.AcceptContact(asked.Ctx, contacts.ActInput{ContactID: contact.String()}))
	require.Equal(t, map[string]any{"contact_id": contact.String(), "bot_id": asked.ID.String(), "friendship_status": "friends"},
		from.event(events.ContactAccepted).Payload)
	h.Block(asker, contact)
	require.Equal(t, map[string]any{"contact_id": contact.String(), "bot_id": asker.ID.String(), "friendship_status": "blocked"},
		to.event(events.ContactBlocked).Payload)
	from.quiet()
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

func TestABlockWithdrawsUnconfirmedMessagesAndNothingElse(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	one, other := h.Agent(), h.Agent()
	contact := h.Befriend(one, other)
	h.Exec("DELETE FROM events")
	// More than a window of events, so that withdrawn ones must make room.
	for range events.WindowSize + 20 {
		h.Sent(one, other)
	}
	p.tell(other, 1)
	h.Exec("UPDATE contacts SET state = 'blocked', blocked_by = requester_id WHERE id = $1", contact)
	conn := p.dial(other.Token)
	conn.gets(1)
	conn.quiet()
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM events"))
}

func TestAnExpiredMessageIsNotSent(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	one, other := h.friends()
	h.Sent(one, other)
	h.Exec("UPDATE messages SET expires_at = stoa_now() + interval '1 hour'")
	h.Shift(2 * time.Hour)
	h.Sent(one, other)
	conn := p.dial(other.Token)
	conn.event(events.MessageCreated)
	conn.quiet()
}
