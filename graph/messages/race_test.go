package messages_test

import (
	"sync"
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
			var (
				fresh atomic.Int32
				ids   sync.Map
			)
			atOnce(20, func(int) {
				result, code := send(t, w, one, in)
				if code != "" {
					t.Error(code)
					return
				}
				if !result.Repeated {
					fresh.Add(1)
				}
				ids.Store(result.Message.ID, true)
			})
			require.EqualValues(t, 1, fresh.Load())
			different := 0
			ids.Range(func(any, any) bool { different++; return true })
			require.Equal(t, 1, different)
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
		codes := make([]fault.Code, len(inputs))
		atOnce(len(inputs), func(i int) { _, codes[i] = send(t, w, senders[i], inputs[i]) })
		require.ElementsMatch(t, []fault.Code{"", fault.NonceReuse, fault.NonceReuse, fault.NonceReuse}, codes)
	}
}

// A changed repeat that races with the first send gets another fault than a reuse of its nonce.
func TestChangedSendsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	for range 10 {
		in := graphtest.Envelope(one, other)
		codes := make([]fault.Code, 4)
		atOnce(len(codes), func(i int) {
			_, codes[i] = send(t, w, one, changed(in, func(in *messages.SendInput) { in.Ciphertext = graphtest.Ptr(graphtest.RandomBase64(64 + i)) }))
		})
		require.ElementsMatch(t, []fault.Code{"", fault.IdempotencyConflict, fault.IdempotencyConflict, fault.IdempotencyConflict}, codes)
	}
}

func TestLimitHoldsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 5}))
	one, other := w.Friends()
	var accepted atomic.Int32
	atOnce(20, func(int) {
		switch _, code := send(t, w, one, graphtest.Envelope(one, other)); code {
		case "":
			accepted.Add(1)
		case fault.RateLimited:
		default:
			t.Error(code)
		}
	})
	require.EqualValues(t, 5, accepted.Load())
	require.EqualValues(t, 5, w.Count("SELECT count(*) FROM message_guards"))
}

// Once a block is answered no message comes through and none is announced any more.
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
		atOnce(8, func(i int) {
			if i == 0 {
				if _, err := w.Contacts.BlockContact(other.Ctx, contacts.ActInput{ContactID: id.String()}); err != nil {
					t.Error(err)
				}
				blocked.Store(true)
				return
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
		})
		require.Equal(t, accepted.Load(), w.Count("SELECT count(*) FROM messages WHERE contact_id = $1", id))
		require.Zero(t, w.Count("SELECT count(*) FROM events WHERE kind = 'message.created' AND contact_id = $1", id))
		_, code := send(t, w, one, graphtest.Envelope(one, other))
		require.Equal(t, fault.ContactNotAccepted, code)
	}
}
