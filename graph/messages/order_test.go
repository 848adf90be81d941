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

// scene is a sender about to send to a friend, having sent before.
type scene struct {
	w        *graphtest.World
	from, to *graphtest.Agent
	contact  uuid.UUID
	// asked has not answered the sender's request.
	asked  *graphtest.Agent
	before messages.SendInput
	next   messages.SendInput
}

// rules are what refuses an envelope, in the order in which contract §4 applies them, and what sets each off.
var rules = []struct {
	code fault.Code
	sets map[string]func(*scene)
}{
	{fault.InvalidEnvelope, map[string]func(*scene){
		"client id": func(s *scene) { s.next.ClientMessageID = graphtest.Ptr("x") },
	}},
	{fault.EncryptedEnvelopeRequired, map[string]func(*scene){
		"no nonce": func(s *scene) { s.next.Nonce = nil },
	}},
	{fault.UnsupportedEncryption, map[string]func(*scene){
		"version": func(s *scene) { s.next.EncryptionVersion = graphtest.Ptr("box-v2") },
	}},
	{fault.InvalidEnvelope, map[string]func(*scene){
		"ciphertext": func(s *scene) { s.next.Ciphertext = graphtest.Ptr("") },
	}},
	{fault.IdempotencyConflict, map[string]func(*scene){
		"changed repeat": func(s *scene) { s.next.ClientMessageID = s.before.ClientMessageID },
	}},
	{fault.ContactNotAccepted, map[string]func(*scene){
		"stranger":     func(s *scene) { s.next.RecipientID = graphtest.Ptr(s.w.Agent().ID.String()) },
		"unknown":      func(s *scene) { s.next.RecipientID = graphtest.Ptr(uuid.NewString()) },
		"oneself":      func(s *scene) { s.next.RecipientID = graphtest.Ptr(s.from.ID.String()) },
		"blocked":      func(s *scene) { s.w.Block(s.to, s.contact) },
		"blocked self": func(s *scene) { s.w.Block(s.from, s.contact) },
		"pending":      func(s *scene) { s.next.RecipientID = graphtest.Ptr(s.asked.ID.String()) },
	}},
	{fault.InactiveBot, map[string]func(*scene){
		"trash":     func(s *scene) { s.w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.from.ID) },
		"suspended": func(s *scene) { s.w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.from.ID) },
	}},
	{fault.KeyChanged, map[string]func(*scene){
		"sender":    func(s *scene) { s.next.SenderPublicKey = s.next.RecipientPublicKey },
		"recipient": func(s *scene) { s.next.RecipientPublicKey = graphtest.Ptr(graphtest.RandomBase64(32)) },
	}},
	{fault.NonceReuse, map[string]func(*scene){
		"nonce": func(s *scene) { s.next.Nonce = s.before.Nonce },
	}},
	{fault.RateLimited, map[string]func(*scene){
		"limit": func(s *scene) {
			third := s.w.Agent()
			s.w.Befriend(third, s.from)
			s.w.Sent(s.from, third)
		},
	}},
}

func newScene(t *testing.T, w *graphtest.World) *scene {
	s := &scene{w: w, from: w.Agent(), to: w.Agent(), asked: w.Agent()}
	s.contact = w.Befriend(s.from, s.to)
	w.Asked(s.from, s.asked)
	s.before, s.next = graphtest.Envelope(s.from, s.to), graphtest.Envelope(s.from, s.to)
	_, code := send(t, w, s.from, s.before)
	require.Empty(t, code)
	return s
}

// Of any two rules that refuse an envelope the earlier one gives the code.
func TestOrderOfRules(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2}))
	for first, earlier := range rules {
		for name, set := range earlier.sets {
			for _, later := range rules[first:] {
				for other, also := range later.sets {
					s := newScene(t, w)
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

// A repeat goes before every rule that may have come to apply since.
func TestRepeatsGoBeforeTheRules(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2}))
	for _, name := range []string{"blocked", "blocked self", "trash", "suspended", "limit"} {
		s := newScene(t, w)
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
