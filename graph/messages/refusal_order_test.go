package messages_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// fixture is a sender who has sent a friend a message and is about to send the next.
type fixture struct {
	w        *graphtest.World
	from, to *graphtest.Agent
	contact  uuid.UUID
	// asked is an agent that has not answered the sender's contact request.
	asked  *graphtest.Agent
	before messages.SendInput
	next   messages.SendInput
}

// rules holds the reasons to refuse an envelope in the order of §2.4, each with a change that makes it apply.
var rules = []struct {
	code fault.Code
	sets map[string]func(*fixture)
}{
	{fault.InvalidEnvelope, map[string]func(*fixture){
		"client id": func(s *fixture) { s.next.ClientMessageID = graphtest.Ptr("x") },
	}},
	{fault.EncryptedEnvelopeRequired, map[string]func(*fixture){
		"no nonce": func(s *fixture) { s.next.Nonce = nil },
	}},
	{fault.UnsupportedEncryption, map[string]func(*fixture){
		"version": func(s *fixture) { s.next.EncryptionVersion = graphtest.Ptr("box-v2") },
	}},
	{fault.InvalidEnvelope, map[string]func(*fixture){
		"ciphertext": func(s *fixture) { s.next.Ciphertext = graphtest.Ptr("") },
	}},
	{fault.IdempotencyConflict, map[string]func(*fixture){
		"changed repeat": func(s *fixture) { s.next.ClientMessageID = s.before.ClientMessageID },
	}},
	{fault.ContactNotAccepted, map[string]func(*fixture){
		"stranger":     func(s *fixture) { s.next.RecipientID = graphtest.Ptr(s.w.Agent().ID.String()) },
		"unknown":      func(s *fixture) { s.next.RecipientID = graphtest.Ptr(uuid.NewString()) },
		"oneself":      func(s *fixture) { s.next.RecipientID = graphtest.Ptr(s.from.ID.String()) },
		"blocked":      func(s *fixture) { s.w.Block(s.to, s.contact) },
		"blocked self": func(s *fixture) { s.w.Block(s.from, s.contact) },
		"pending":      func(s *fixture) { s.next.RecipientID = graphtest.Ptr(s.asked.ID.String()) },
	}},
	{fault.InactiveBot, map[string]func(*fixture){
		"trash":     func(s *fixture) { s.w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.from.ID) },
		"suspended": func(s *fixture) { s.w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.from.ID) },
	}},
	{fault.KeyChanged, map[string]func(*fixture){
		"sender":    func(s *fixture) { s.next.SenderPublicKey = s.next.RecipientPublicKey },
		"recipient": func(s *fixture) { s.next.RecipientPublicKey = graphtest.Ptr(graphtest.RandomBase64(32)) },
	}},
	{fault.NonceReuse, map[string]func(*fixture){
		"nonce": func(s *fixture) { s.next.Nonce = s.before.Nonce },
	}},
	{fault.RateLimited, map[string]func(*fixture){
		"limit": func(s *fixture) {
			third := s.w.Agent()
			s.w.Befriend(third, s.from)
			s.w.Sent(s.from, third)
		},
	}},
}

func newFixture(t *testing.T, w *graphtest.World) *fixture {
	s := &fixture{w: w, from: w.Agent(), to: w.Agent(), asked: w.Agent()}
	s.contact = w.Befriend(s.from, s.to)
	w.Asked(s.from, s.asked)
	s.before, s.next = graphtest.Envelope(s.from, s.to), graphtest.Envelope(s.from, s.to)
	_, code := send(t, w, s.from, s.before)
	require.Empty(t, code)
	return s
}

// If two rules refuse an envelope, the earlier one determines the code. With -short only neighbours are tested.
func TestEarlierRuleRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2}))
	reach := len(rules)
	if testing.Short() {
		reach = 2
	}
	for first, earlier := range rules {
		for name, set := range earlier.sets {
			for _, later := range rules[first:min(first+reach, len(rules))] {
				for other, also := range later.sets {
					s := newFixture(t, w)
					also(s) // first, as using up the limit needs a sender who can still send
					if name != other {
						set(s)
					}
					_, code := send(t, w, s.from, s.next)
					require.Equal(t, earlier.code, code, "%s, %s", name, other)
				}
			}
		}
	}
}

// A repeat is answered before any rule that began to apply later.
func TestRepeatsAreAnsweredBeforeRules(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2}))
	for _, name := range []string{"blocked", "blocked self", "trash", "suspended", "limit"} {
		s := newFixture(t, w)
		first, code := send(t, w, s.from, s.before)
		require.Empty(t, code)
		require.True(t, first.Repeated)
		for _, rule := range rules {
			if set := rule.sets[name]; set != nil {
				set(s)
			}
		}
		again, code := send(t, w, s.from, s.before)
		require.Empty(t, code, name)
		require.True(t, again.Repeated)
		require.Equal(t, first.Message.ID, again.Message.ID)
	}
}

func TestInactiveRecipientsStillGetMessages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", other.ID)
	w.Sent(one, other)
}
