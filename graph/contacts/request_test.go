package contacts_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

func TestRequestMakesAPendingContact(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	made := graphtest.Got(ask(w, one, other.ID))(t)
	c := made.Contact
	require.False(t, made.Repeated)
	require.Equal(t, "pending", c.State)
	require.Equal(t, contacts.StatusOutgoing, c.Friendship.Status)
	require.True(t, c.RequestedByMe)
	require.Nil(t, c.AcceptedAt)
	require.Equal(t, c.CreatedAt, c.UpdatedAt)
	require.WithinDuration(t, w.Now(), c.CreatedAt, time.Minute)
	require.Equal(t, other.ID, c.Bot.ID)
	require.Equal(t, other.Key.PublicKey().Bytes(), c.Bot.EncryptionPublicKey)
	require.Equal(t, []outboxEvent{{events.ContactRequested, events.ContactPayload{ContactID: c.ID, BotID: one.ID, FriendshipStatus: "incoming", Resembles: []string{}}}}, outbox(t, w, other))
	require.Empty(t, outbox(t, w, one))
}

func TestRequestRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	for name, sent := range map[string]*string{
		"missing": nil, "empty": graphtest.Ptr(""), "braces": graphtest.Ptr("{" + other.ID.String() + "}"),
		"urn": graphtest.Ptr("urn:uuid:" + other.ID.String()), "cut": graphtest.Ptr(other.ID.String()[:35]),
	} {
		_, err := w.Contacts.RequestContact(one.Ctx, contacts.RequestInput{RecipientID: sent})
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidID).Fields, "recipient_id", name)
	}
	graphtest.Refused(t, fault.SelfContact)(ask(w, one, one.ID))
	graphtest.Refused(t, fault.NotFound)(ask(w, one, uuid.New()))
	require.Zero(t, w.Count("SELECT count(*) FROM contacts"))
	require.Zero(t, w.Count("SELECT count(*) FROM events"))
}

// An agent can be asked while it is active and not suspended, and may ask while it may take on obligations.
func TestRequestAndActivity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set         string
		asked, asks fault.Code
	}{
		"closed profile": {set: "profile_public = false"},
		"suspended":      {set: "suspended_at = stoa_now()", asked: fault.NotFound, asks: fault.InactiveBot},
		"trash":          {set: "state = 'trash'", asked: fault.NotFound, asks: fault.InactiveBot},
		"deleted":        {set: "state = 'deleted'", asked: fault.NotFound, asks: fault.InactiveBot},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t)
			before, set, after, asker := w.Agent(), w.Agent(), w.Agent(), w.Agent()
			known := w.Asked(before, set)
			w.Exec("UPDATE bots SET "+test.set+" WHERE id = $1", set.ID)
			require.Equal(t, test.asked, fault.CodeOf(graphtest.Err(ask(w, asker, set.ID))))
			require.Equal(t, test.asks, fault.CodeOf(graphtest.Err(ask(w, set, after.ID))))
			repeat := graphtest.Got(ask(w, before, set.ID))(t, "a repeat comes before the rules")
			require.True(t, repeat.Repeated)
			require.Equal(t, known, repeat.Contact.ID)
			repeat = graphtest.Got(ask(w, set, before.ID))(t)
			require.Equal(t, contacts.StatusIncoming, repeat.Contact.Friendship.Status)

			w.Block(before, known)
			want := test.asked
			if want == "" {
				want = fault.ContactBlocked
			}
			graphtest.Refused(t, want)(ask(w, before, set.ID))
		})
	}
}

func TestRestrictedAgentMayNotAsk(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, verified := w.Agent(), w.Agent(), w.Agent()
	w.Exec("UPDATE bots SET email_verified_at = stoa_now() WHERE id = $1", verified.ID)
	w.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '13 days'")
	graphtest.OK(t)(ask(w, one, other.ID))
	w.Shift(25 * time.Hour)
	graphtest.Refused(t, fault.InactiveBot)(ask(w, one, verified.ID))
	made := graphtest.Got(ask(w, verified, one.ID))(t)
	graphtest.Refused(t, fault.InactiveBot)(w.Contacts.AcceptContact(one.Ctx, on(made.Contact.ID)))
}

func TestIdenticalRequestsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{ContactRequestsPerMinute: 1}))
	one, other := w.Agent(), w.Agent()
	var made atomic.Int32
	codes := graphtest.AtOnce(20, func(int) error {
		result, err := ask(w, one, other.ID)
		if err == nil && !result.Repeated {
			made.Add(1)
		}
		return err
	})
	require.Equal(t, 20, codes.Count()[""])
	require.EqualValues(t, 1, made.Load())
	require.Len(t, outbox(t, w, other), 1)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts"))
}

func TestMutualRequestsAtOnceMakeOneContact(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agents := []*graphtest.Agent{w.Agent(), w.Agent()}
	results := make([]*contacts.ContactResult, len(agents))
	codes := graphtest.AtOnce(len(agents), func(i int) (err error) {
		results[i], err = ask(w, agents[i], agents[1-i].ID)
		return err
	})
	require.Equal(t, 2, codes.Count()[""])
	require.NotEqual(t, results[0].Repeated, results[1].Repeated)
	require.Equal(t, results[0].Contact.ID, results[1].Contact.ID)
	for _, result := range results {
		want := contacts.StatusOutgoing
		if result.Repeated {
			want = contacts.StatusIncoming
		}
		require.Equal(t, want, result.Contact.Friendship.Status)
		require.Equal(t, "pending", result.Contact.State, "a mutual request accepts nothing")
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
}

func TestOnlyNewRequestsCount(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{ContactRequestsPerMinute: 2}))
	one, first, second, third := w.Agent(), w.Agent(), w.Agent(), w.Agent()
	w.Asked(one, first)
	for range 5 {
		w.Asked(one, first)
		graphtest.Refused(t, fault.SelfContact)(ask(w, one, one.ID))
		graphtest.Refused(t, fault.NotFound)(ask(w, one, uuid.New()))
	}
	w.Asked(one, second)
	require.Positive(t, graphtest.RequireFault(t, graphtest.Err(ask(w, one, third.ID)), fault.RateLimited).Retry())
	require.Empty(t, outbox(t, w, third))
	w.Asked(one, second)
	w.Asked(third, one)
	w.Shift(2 * time.Minute)
	w.Asked(one, third)
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM contacts"))
}

func blockBot(w *graphtest.World, by *graphtest.Agent, id any) (*contacts.ContactResult, error) {
	var sent string
	switch id := id.(type) {
	case uuid.UUID:
		sent = id.String()
	case string:
		sent = id
	}
	return w.Contacts.BlockBot(by.Ctx, contacts.BlockInput{BotID: &sent})
}

// A stranger is blocked without an event. Then neither of the two can request friendship.
func TestBlockOfAStranger(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	me, other := w.Agent(), w.Agent()
	made := graphtest.Got(blockBot(w, me, other.ID))(t)
	require.False(t, made.Repeated)
	require.Equal(t, "blocked", made.Contact.State)
	require.Equal(t, "blocked", made.Contact.Friendship.Status)
	require.True(t, made.Contact.RequestedByMe)
	require.Equal(t, other.ID, made.Contact.Bot.ID)
	require.Nil(t, made.Contact.AcceptedAt)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE id = $1 AND blocked_by = $2", made.Contact.ID, me.ID))
	for _, by := range []*graphtest.Agent{me, other} {
		require.Empty(t, outbox(t, w, by))
		graphtest.Refused(t, fault.ContactBlocked)(ask(w, by, map[bool]uuid.UUID{true: other.ID, false: me.ID}[by == me]))
		again := graphtest.Got(blockBot(w, by, map[bool]uuid.UUID{true: other.ID, false: me.ID}[by == me]))(t)
		require.True(t, again.Repeated)
		require.Equal(t, made.Contact.ID, again.Contact.ID)
		require.Equal(t, by == me, again.Contact.RequestedByMe)
		require.Empty(t, outbox(t, w, by))
	}
}

func TestBlockBotRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	me, other, gone := w.Agent(), w.Agent(), w.Agent()
	graphtest.RefusedField(t, fault.InvalidID, "bot_id")(blockBot(w, me, "otto"))
	graphtest.Refused(t, fault.InvalidID)(w.Contacts.BlockBot(me.Ctx, contacts.BlockInput{}))
	graphtest.Refused(t, fault.SelfContact)(blockBot(w, me, me.ID))
	graphtest.Refused(t, fault.NotFound)(blockBot(w, me, uuid.New()))
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", gone.ID)
	graphtest.Refused(t, fault.NotFound)(blockBot(w, me, gone.ID))

	// An inactive agent may block an inactive one.
	w.Exec("UPDATE bots SET state = 'trash'")
	graphtest.OK(t)(blockBot(w, me, other.ID))
}

// Concurrent requests and blocks of two strangers leave one contact, blocked once.
func TestBlocksAndRequestsAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 10 {
		one, other := w.Agent(), w.Agent()
		var blocked atomic.Int32
		codes := graphtest.AtOnce(4, func(i int) error {
			by, of := one, other
			if i%2 == 0 {
				by, of = other, one
			}
			if i == 3 {
				return graphtest.Err(ask(w, by, of.ID))
			}
			done, err := blockBot(w, by, of.ID)
			if err == nil && !done.Repeated {
				blocked.Add(1)
			}
			return err
		})
		require.Equal(t, 3, codes[:3].Count()[""])
		require.Contains(t, []fault.Code{"", fault.ContactBlocked}, codes[3])
		require.EqualValues(t, 1, blocked.Load())
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE $1 IN (requester_id, recipient_id) AND state = 'blocked'", one.ID))
	}
}
