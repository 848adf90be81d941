package messages_test

import (
	"context"
	"encoding/base64"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// model implements the rules of §2.4 for sends among three agents who are all friends.
type model struct {
	// sent holds the envelope under each sender's id, expired whose message has expired.
	sent    map[[2]int]attempt
	expired map[[2]int]bool
	// bySender and byPair are the nonces used.
	bySender, byPair map[[2]int]bool
	blocked          map[int]bool
	// unread counts the announcements of each pair.
	unread map[int]int
}

// attempt is a send in small numbers: agents, and which of a few ids, nonces and texts it uses.
type attempt struct{ from, to, id, nonce, text int }

// pair is the same for both directions: the number of the third agent.
func (a attempt) pair() int { return 3 - a.from - a.to }

// expect returns the required result of an attempt and updates the model.
func (m *model) expect(a attempt) (code fault.Code, repeated bool) {
	key := [2]int{a.from, a.id}
	before, known := m.sent[key]
	switch {
	case known && m.expired[key]:
		return fault.MessageExpired, false
	case known && before == a:
		return "", true
	case known:
		return fault.IdempotencyConflict, false
	case a.from == a.to || m.blocked[a.pair()]:
		return fault.ContactNotAccepted, false
	case m.bySender[[2]int{a.from, a.nonce}] || m.byPair[[2]int{a.pair(), a.nonce}]:
		return fault.NonceReuse, false
	}
	m.sent[key] = a
	m.bySender[[2]int{a.from, a.nonce}] = true
	m.byPair[[2]int{a.pair(), a.nonce}] = true
	m.unread[a.pair()]++
	return "", false
}

func TestSendsFollowTheModel(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(t *rapid.T) {
		agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
		contacts := []uuid.UUID{w.Befriend(agents[1], agents[2]), w.Befriend(agents[2], agents[0]), w.Befriend(agents[0], agents[1])}
		ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		numbered := func(n, size int) *string {
			b := make([]byte, size)
			b[0] = byte(n)
			return graphtest.Ptr(base64.StdEncoding.EncodeToString(b))
		}
		m := &model{
			sent: map[[2]int]attempt{}, expired: map[[2]int]bool{}, bySender: map[[2]int]bool{}, byPair: map[[2]int]bool{},
			blocked: map[int]bool{}, unread: map[int]int{},
		}
		kept := map[[2]int]*messages.Card{}
		send := func(t *rapid.T) {
			agent, few := rapid.IntRange(0, 2), rapid.IntRange(0, 3)
			a := attempt{
				agent.Draw(t, "from"), agent.Draw(t, "to"), agent.Draw(t, "id"), few.Draw(t, "nonce"), rapid.IntRange(0, 1).Draw(t, "text"),
			}
			in := graphtest.Envelope(agents[a.from], agents[a.to])
			in.ClientMessageID = graphtest.Ptr(ids[a.id].String())
			in.Nonce, in.Ciphertext = numbered(a.nonce, 24), numbered(a.text, 16)
			code, repeated := m.expect(a)
			send := func() (*messages.SendResult, error) { return w.Messages.SendMessage(agents[a.from].Ctx, in) }
			if rapid.Bool().Draw(t, "authenticated") {
				send = func() (*messages.SendResult, error) { return authenticateAndSend(w, agents[a.from], in) }
			}
			result, err := send()
			if code != "" {
				require.Error(t, err)
				require.Equal(t, code, fault.From(err).Code, "%+v", a)
				return
			}
			require.NoError(t, err, "%+v", a)
			require.Equal(t, repeated, result.Repeated, "%+v", a)
			key := [2]int{a.from, a.id}
			if !repeated {
				kept[key] = result.Message
			}
			require.Equal(t, kept[key].ID, result.Message.ID)
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": send, "send again": send, "send once more": send,
			"block": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
					return
				}
				pair, side := rapid.IntRange(0, 2).Draw(t, "pair"), rapid.IntRange(1, 2).Draw(t, "side")
				w.Block(agents[(pair+side)%3], contacts[pair])
				m.blocked[pair], m.unread[pair] = true, 0
			},
			"expire": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
					return
				}
				w.Shift(messages.Retention)
				w.Exec("UPDATE tokens SET expires_at = 'infinity'")
				for key := range m.sent {
					m.expired[key] = true
				}
				if rapid.Bool().Draw(t, "delete") {
					graphtest.OK(t)(w.Messages.DeleteExpired(context.Background()))
				}
			},
			"": func(t *rapid.T) {
				// One number for the three counts, of three digits each.
				require.EqualValues(t, m.unread[0]*1_000_000+m.unread[1]*1000+m.unread[2], w.Count(`SELECT
					count(*) FILTER (WHERE contact_id = $1) * 1000000 + count(*) FILTER (WHERE contact_id = $2) * 1000 + count(*) FILTER (WHERE contact_id = $3)
					FROM events WHERE message_id IS NOT NULL AND contact_id IN ($1, $2, $3)`, contacts[0], contacts[1], contacts[2]))
			},
		})
	})
}

func TestIdenticalSendsAtOnce(t *testing.T) {
	t.Parallel()
	for name, quotas := range map[string]limits.Quotas{"unlimited": {}, "at the limit": {MessagesPerMinute: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t, graphtest.WithQuotas(quotas))
			one, other := w.Friends()
			in := graphtest.Envelope(one, other)
			results := make([]*messages.SendResult, 20)
			codes := graphtest.AtOnce(len(results), func(i int) (err error) {
				results[i], err = w.Messages.SendMessage(one.Ctx, in)
				return err
			})
			require.Equal(t, 20, codes.Count()[""])
			fresh := 0
			for _, result := range results {
				require.Equal(t, results[0].Message.ID, result.Message.ID)
				if !result.Repeated {
					fresh++
				}
			}
			require.Equal(t, 1, fresh)
			for _, table := range []string{"messages", "message_guards", "events WHERE kind = 'message.created'"} {
				require.EqualValues(t, 1, w.Count("SELECT count(*) FROM "+table))
			}
		})
	}
}

// Of concurrent sends with one nonce one is accepted, and of different sends under one id; the two have other faults.
func TestOneNonceOrIDAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	for range 10 {
		senders := []*graphtest.Agent{one, one, other, other}
		inputs := []messages.SendInput{graphtest.Envelope(one, other), graphtest.Envelope(one, other), graphtest.Envelope(other, one), graphtest.Envelope(other, one)}
		for i := range inputs {
			inputs[i].Nonce = inputs[0].Nonce
		}
		codes := graphtest.AtOnce(len(inputs), func(i int) error {
			return graphtest.Err(w.Messages.SendMessage(senders[i].Ctx, inputs[i]))
		})
		require.Equal(t, map[fault.Code]int{"": 1, fault.NonceReuse: 3}, codes.Count())
		in := graphtest.Envelope(one, other)
		codes = graphtest.AtOnce(4, func(i int) error {
			in := in
			in.Ciphertext = graphtest.Ptr(graphtest.RandomBase64(64 + i))
			return graphtest.Err(w.Messages.SendMessage(one.Ctx, in))
		})
		require.Equal(t, map[fault.Code]int{"": 1, fault.IdempotencyConflict: 3}, codes.Count())
	}
}

func TestLimitHoldsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 5}))
	one, other := w.Friends()
	codes := graphtest.AtOnce(20, func(int) error {
		return graphtest.Err(w.Messages.SendMessage(one.Ctx, graphtest.Envelope(one, other)))
	})
	require.Equal(t, map[fault.Code]int{"": 5, fault.RateLimited: 15}, codes.Count())
	require.EqualValues(t, 5, w.Count("SELECT count(*) FROM message_guards"))
}

// After a block is answered, no message is accepted or announced.
func TestBlockAndSendsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 5 {
		one, other := w.Agent(), w.Agent()
		id := w.Befriend(one, other)
		var (
			blocked  atomic.Bool
			accepted atomic.Int64
		)
		codes := graphtest.AtOnce(8, func(i int) error {
			if i == 0 {
				_, err := w.Contacts.BlockContact(other.Ctx, contacts.ActInput{ContactID: id.String()})
				blocked.Store(true)
				return err
			}
			for range 20 {
				late := blocked.Load()
				_, code := send(t, w, one, graphtest.Envelope(one, other))
				switch code {
				case "":
					accepted.Add(1)
					if late {
						t.Error("a message came through after the block")
					}
				case fault.ContactNotAccepted:
				default:
					t.Error(code)
				}
			}
			return nil
		})
		require.Empty(t, codes[0])
		require.Equal(t, accepted.Load(), w.Count("SELECT count(*) FROM messages WHERE contact_id = $1", id))
		require.Zero(t, w.Count("SELECT count(*) FROM events WHERE kind = 'message.created' AND contact_id = $1", id))
		_, code := send(t, w, one, graphtest.Envelope(one, other))
		require.Equal(t, fault.ContactNotAccepted, code)
	}
}
