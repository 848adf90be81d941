package messages_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/page"
)

func dialogWith(peer uuid.UUID) messages.DialogInput {
	return messages.DialogInput{Peer: page.Param{peer.String()}}
}

func from(peer, before uuid.UUID) messages.DialogInput {
	return messages.DialogInput{Peer: page.Param{peer.String()}, Before: page.Param{before.String()}}
}

func TestDialogIsTheSameForBoth(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	third := w.Agent()
	w.Befriend(one, third)
	empty := graphtest.Got(w.Messages.Dialog(one.Ctx, dialogWith(other.ID)))(t)
	require.Equal(t, &messages.DialogPage{Messages: []*messages.Card{}}, empty)

	first, second := w.Sent(one, other), w.Sent(other, one)
	w.Sent(one, third)
	mine := graphtest.Got(w.Messages.Dialog(one.Ctx, dialogWith(other.ID)))(t)
	require.Equal(t, mine, graphtest.Got(w.Messages.Dialog(other.Ctx, dialogWith(one.ID)))(t))
	require.Nil(t, mine.NextBefore)
	require.Len(t, mine.Messages, 2)
	require.Equal(t, second.ID, mine.Messages[0].ID)
	require.Equal(t, first.ID, mine.Messages[1].ID)
}

// fill writes n messages of a dialog, several of the same moment, older ones first.
func fill(w *graphtest.World, contactID uuid.UUID, one, other *graphtest.Agent, n int) {
	w.Exec(`
INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce,
  ciphertext, sender_public_key, recipient_public_key, size_bytes, expires_at)
SELECT gen_random_uuid(), at, $1, $2, $3, gen_random_uuid(), 'box-v1', decode(repeat('00', 24), 'hex'),
  decode(repeat('00', 16), 'hex'), decode(repeat('09', 32), 'hex'), decode(repeat('09', 32), 'hex'), 16, at + interval '90 days'
FROM generate_series(1, $4) n, LATERAL (SELECT stoa_now() - make_interval(secs => n / 30) AS at) a`, contactID, one.ID, other.ID, n)
}

func TestDialogPages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	fill(w, w.Befriend(one, other), one, other, 230)
	input := dialogWith(one.ID)
	var shown []*messages.Card
	for _, size := range []int{100, 100, 30} {
		list := graphtest.Got(w.Messages.Dialog(other.Ctx, input))(t)
		require.Len(t, list.Messages, size)
		shown = append(shown, list.Messages...)
		last := shown[len(shown)-1].ID
		if size == page.CursorSize {
			require.Equal(t, last, *list.NextBefore)
		} else {
			require.Nil(t, list.NextBefore)
		}
		input = from(one.ID, last)
	}
	for i := range shown[1:] {
		newer, older := shown[i], shown[i+1]
		require.False(t, newer.CreatedAt.Before(older.CreatedAt))
		if newer.CreatedAt.Equal(older.CreatedAt) {
			require.Greater(t, newer.ID.String(), older.ID.String())
		}
	}
	list := graphtest.Got(w.Messages.Dialog(other.Ctx, input))(t)
	require.Empty(t, list.Messages)
	require.Nil(t, list.NextBefore)
}

func TestExpiredMessagesAreNotListed(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	old := w.Sent(one, other)
	w.Shift(time.Hour)
	kept := w.Sent(other, one)
	w.Shift(messages.Retention - time.Hour)
	list := graphtest.Got(w.Messages.Dialog(one.Ctx, dialogWith(other.ID)))(t)
	require.Len(t, list.Messages, 1)
	require.Equal(t, kept.ID, list.Messages[0].ID)
	graphtest.Refused(t, fault.NotFound)(w.Messages.Dialog(one.Ctx, from(other.ID, old.ID)))
	require.Empty(t, graphtest.Got(w.Messages.Dialog(one.Ctx, from(other.ID, kept.ID)))(t).Messages)
}

func TestDialogRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	third, asked, blocked := w.Agent(), w.Agent(), w.Agent()
	w.Befriend(one, third)
	w.Asked(one, asked)
	blockedID := w.Befriend(one, blocked)
	unreadable := w.Sent(blocked, one)
	w.Block(one, blockedID)
	foreign := w.Sent(third, one)
	for name, test := range map[string]struct {
		in   messages.DialogInput
		code fault.Code
	}{
		"no peer":               {messages.DialogInput{}, fault.InvalidID},
		"empty peer":            {messages.DialogInput{Peer: page.Param{""}}, fault.InvalidID},
		"malformed peer":        {messages.DialogInput{Peer: page.Param{"x"}}, fault.InvalidID},
		"two peers":             {messages.DialogInput{Peer: page.Param{other.ID.String(), other.ID.String()}}, fault.InvalidID},
		"malformed before":      {messages.DialogInput{Peer: page.Param{uuid.NewString()}, Before: page.Param{"x"}}, fault.InvalidID},
		"unknown peer":          {dialogWith(uuid.New()), fault.NotFound},
		"oneself":               {dialogWith(one.ID), fault.NotFound},
		"only asked":            {dialogWith(asked.ID), fault.NotFound},
		"blocked":               {dialogWith(blocked.ID), fault.NotFound},
		"blocked, with before":  {from(blocked.ID, unreadable.ID), fault.NotFound},
		"before unknown":        {from(other.ID, uuid.New()), fault.NotFound},
		"before of another one": {from(other.ID, foreign.ID), fault.NotFound},
		"before is the peer":    {from(other.ID, other.ID), fault.NotFound},
	} {
		graphtest.Refused(t, test.code, name)(w.Messages.Dialog(one.Ctx, test.in))
	}
	graphtest.Refused(t, fault.NotFound)(w.Messages.Dialog(blocked.Ctx, dialogWith(one.ID)))
}

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

// blamed holds the field that a refusal names, for some of the changes.
var blamed = map[string]string{
	"stranger": "recipient_id", "sender": "sender_public_key", "recipient": "recipient_public_key", "nonce": "nonce",
	"changed repeat": "client_message_id",
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
					also(s) // first: only a sender who can still send can use up the limit
					if name != other {
						set(s)
					}
					refused := graphtest.RequireFault(t, graphtest.Err(w.Messages.SendMessage(s.from.Ctx, s.next)), earlier.code, "%s, %s", name, other)
					if field := blamed[name]; field != "" && name == other {
						require.Equal(t, []string{field}, slices.Collect(maps.Keys(refused.Fields)))
					}
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
