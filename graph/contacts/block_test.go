package contacts_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

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

// An existing contact is blocked as by BlockContact.
func TestBlockOfAnAgentWithAContact(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for name, relate := range map[string]func(me, other *graphtest.Agent) uuid.UUID{
		"asked":     func(me, other *graphtest.Agent) uuid.UUID { return w.Asked(me, other) },
		"was asked": func(me, other *graphtest.Agent) uuid.UUID { return w.Asked(other, me) },
		"friends":   func(me, other *graphtest.Agent) uuid.UUID { return w.Befriend(other, me) },
	} {
		me, other := w.Agent(), w.Agent()
		id := relate(me, other)
		w.Exec("DELETE FROM events")
		done, err := blockBot(w, me, other.ID)
		require.NoError(t, err, name)
		require.False(t, done.Repeated, name)
		require.Equal(t, id, done.Contact.ID, name)
		require.Equal(t, "blocked", done.Contact.State, name)
		require.Equal(t, name == "asked", done.Contact.RequestedByMe, name)
		require.Len(t, outbox(t, w, other), 1, name)
		require.Empty(t, outbox(t, w, me), name)
	}
}

func TestBlockBotRefuses(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	me, other, gone := w.Agent(), w.Agent(), w.Agent()
	_, err := blockBot(w, me, "otto")
	require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidID).Fields, "bot_id")
	graphtest.Refused(t, fault.InvalidID)(w.Contacts.BlockBot(me.Ctx, contacts.BlockInput{}))
	graphtest.Refused(t, fault.SelfContact)(blockBot(w, me, me.ID))
	graphtest.Refused(t, fault.NotFound)(blockBot(w, me, uuid.New()))
	_, err = w.Contacts.BlockBot(context.Background(), contacts.BlockInput{BotID: graphtest.Ptr(other.ID.String())})
	graphtest.RequireFault(t, err, fault.Unauthorized)
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
				_, err := ask(w, by, of.ID)
				return err
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
