package messages_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/fault"
	"stoa/graph/graphtest"
	"stoa/graph/limits"
	"stoa/graph/messages"
	"stoa/graph/ride"
	"stoa/graph/viewer"
)

// A send that rode on the admission of its sender is done by then, and asks nothing more.
func TestSendRidesOnAdmission(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	in := graphtest.Envelope(one, other)
	var first *messages.SendResult
	for _, again := range []bool{false, true} {
		ctx := w.Messages.AheadOfSendMessage(t.Context(), in)
		v, err := w.Bots.Admit(ctx, one.Token, true)
		require.NoError(t, err)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages"))
		ended, cancel := context.WithCancel(viewer.With(ctx, v))
		cancel()
		sent, err := w.Messages.SendMessage(ended, in)
		require.NoError(t, err)
		require.Equal(t, again, sent.Repeated)
		if !again {
			first = sent
		}
		require.Equal(t, first.Message, sent.Message)
	}
	alone, err := w.Messages.SendMessage(one.Ctx, in)
	require.NoError(t, err)
	require.True(t, alone.Repeated)
	require.Equal(t, first.Message, alone.Message)
}

// Nothing is sent for a caller who is not admitted or may change nothing more, and nothing counts of what is not done.
func TestSendThatIsNotAdmitted(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 2, MessagesPerMinute: 10}))
	one, other := w.Friends()
	sent := func() int64 {
		return w.Count("SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM message_guards)")
	}
	counted := func() int64 {
		return w.Count("SELECT coalesce(sum(total), 0)::bigint FROM rate_windows WHERE name = 'mutations'")
	}

	w.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", one.ID)
	_, err := sendAdmitted(w, one, graphtest.Envelope(one, other))
	graphtest.RequireFault(t, err, fault.Forbidden)
	require.Zero(t, sent()+counted())
	w.Exec("UPDATE bots SET suspended_at = NULL")

	w.Exec("ALTER TABLE messages ADD CONSTRAINT broken CHECK (false) NOT VALID")
	_, err = sendAdmitted(w, one, graphtest.Envelope(one, other))
	require.Error(t, err)
	require.Zero(t, sent()+counted())
	w.Exec("ALTER TABLE messages DROP CONSTRAINT broken")

	for range 2 {
		_, err = sendAdmitted(w, one, graphtest.Envelope(one, other))
		require.NoError(t, err)
	}
	_, err = sendAdmitted(w, one, graphtest.Envelope(one, other))
	graphtest.RequireFault(t, err, fault.WriteLimited)
	require.EqualValues(t, 4, sent())
}

// What cannot be sent does not ride, and what rode for one agent is not another's message.
func TestOnlyTheSendersOwnSendRides(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	require.Nil(t, ride.Of(w.Messages.AheadOfSendMessage(t.Context(), messages.SendInput{}), true))
	in := graphtest.Envelope(one, other)
	ctx := w.Messages.AheadOfSendMessage(t.Context(), in)
	_, err := w.Bots.Admit(ctx, other.Token, true)
	require.NoError(t, err)
	require.Zero(t, w.Count("SELECT count(*) FROM messages"), "the keys are not its own")
	sent, err := w.Messages.SendMessage(viewer.With(ctx, viewer.From(one.Ctx)), in)
	require.NoError(t, err)
	require.False(t, sent.Repeated)
	require.NotEqual(t, uuid.Nil, sent.Message.ID)
}
