package messages_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

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

func TestOneNonceAtOnce(t *testing.T) {
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
			_, err := w.Messages.SendMessage(senders[i].Ctx, inputs[i])
			return err
		})
		require.Equal(t, map[fault.Code]int{"": 1, fault.NonceReuse: 3}, codes.Count())
	}
}

// A changed repeat that races with the first send gets a different fault than a reuse of the nonce.
func TestChangedSendsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	for range 10 {
		in := graphtest.Envelope(one, other)
		codes := graphtest.AtOnce(4, func(i int) error {
			in := in
			in.Ciphertext = graphtest.Ptr(graphtest.RandomBase64(64 + i))
			_, err := w.Messages.SendMessage(one.Ctx, in)
			return err
		})
		require.Equal(t, map[fault.Code]int{"": 1, fault.IdempotencyConflict: 3}, codes.Count())
	}
}

func TestLimitHoldsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 5}))
	one, other := w.Friends()
	codes := graphtest.AtOnce(20, func(int) error {
		_, err := w.Messages.SendMessage(one.Ctx, graphtest.Envelope(one, other))
		return err
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
