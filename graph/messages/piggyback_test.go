package messages_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/auth"
	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

// sendAttached sends as a request does whose body came with its header. made is how many messages the authentication stored.
func sendAttached(w *graphtest.World, from *graphtest.Agent, in messages.SendInput) (sent *messages.SendResult, made int64, err error) {
	const stored = "SELECT count(*) FROM messages"
	before := w.Count(stored)
	ctx := w.Messages.PiggybackSend(context.Background(), in)
	v, err := w.Auth.Authenticate(ctx, from.Token, true)
	made = w.Count(stored) - before
	if err != nil {
		return nil, made, err
	}
	sent, err = w.Messages.SendMessage(viewer.With(ctx, v), in)
	return sent, made, err
}

// A send that was attached to the authentication of its sender ends as any other does, and nothing is sent after it.
func TestSendWithAuthentication(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// prepare changes what is sent, or the world, after one message was sent with first.
		prepare func(w *graphtest.World, one, other *graphtest.Agent, first messages.SendInput, in *messages.SendInput)
		want    fault.Code
		repeat  bool
	}{
		"new": {func(*graphtest.World, *graphtest.Agent, *graphtest.Agent, messages.SendInput, *messages.SendInput) {}, "", false},
		"repeat": {func(_ *graphtest.World, _, _ *graphtest.Agent, first messages.SendInput, in *messages.SendInput) {
			*in = first
		}, "", true},
		"other content": {func(_ *graphtest.World, _, _ *graphtest.Agent, first messages.SendInput, in *messages.SendInput) {
			in.ClientMessageID = first.ClientMessageID
		}, fault.IdempotencyConflict, false},
		"used nonce": {func(_ *graphtest.World, _, _ *graphtest.Agent, first messages.SendInput, in *messages.SendInput) {
			in.Nonce = first.Nonce
		}, fault.NonceReuse, false},
		"stranger": {func(_ *graphtest.World, _, _ *graphtest.Agent, _ messages.SendInput, in *messages.SendInput) {
			in.RecipientID = graphtest.Ptr(uuid.NewString())
		}, fault.ContactNotAccepted, false},
		"other key": {func(_ *graphtest.World, _, _ *graphtest.Agent, _ messages.SendInput, in *messages.SendInput) {
			in.SenderPublicKey = in.RecipientPublicKey
		}, fault.KeyChanged, false},
		"sender in the trash": {func(w *graphtest.World, one, _ *graphtest.Agent, _ messages.SendInput, _ *messages.SendInput) {
			w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", one.ID)
		}, fault.InactiveBot, false},
		"malformed": {func(_ *graphtest.World, _, _ *graphtest.Agent, _ messages.SendInput, in *messages.SendInput) {
			in.Nonce = graphtest.Ptr("AA==")
		}, fault.InvalidEnvelope, false},
		"over the limit": {func(w *graphtest.World, one, other *graphtest.Agent, _ messages.SendInput, _ *messages.SendInput) {
			w.Sent(one, other)
		}, fault.RateLimited, false},
		"repeat over the limit": {func(w *graphtest.World, one, other *graphtest.Agent, first messages.SendInput, in *messages.SendInput) {
			w.Sent(one, other)
			*in = first
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2, MutationsPerMinute: 60}))
			one, other := w.Friends()
			first, in := graphtest.Envelope(one, other), graphtest.Envelope(one, other)
			_, code := send(t, w, one, first)
			require.Empty(t, code)
			c.prepare(w, one, other, first, &in)
			announced := make(chan *messages.Announced, 1)
			w.Messages.Announce = func(a *messages.Announced) { announced <- a }
			before := w.Count("SELECT count(*) FROM messages")
			sent, made, err := sendAttached(w, one, in)
			if c.want != "" {
				graphtest.RequireFault(t, err, c.want)
			} else {
				require.NoError(t, err)
				require.Equal(t, c.repeat, sent.Repeated)
			}
			stored := int64(0)
			if c.want == "" && !c.repeat {
				stored = 1
				require.Equal(t, sent.Message, (<-announced).Message)
			}
			require.Empty(t, announced)
			require.Equal(t, stored, made, "the authentication sends")
			require.Equal(t, before+stored, w.Count("SELECT count(*) FROM messages"))
			require.Equal(t, before+stored, w.Count("SELECT count(*) FROM events WHERE message_id IS NOT NULL"))
		})
	}
}

// Nothing is sent for a caller who is refused.
func TestNothingIsSentForARefusedCaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string
		want   fault.Code
	}{
		"suspended":                 {"UPDATE bots SET suspended_at = stoa_now()", fault.Forbidden},
		"deleted":                   {"UPDATE bots SET state = 'deleted'", fault.Unauthorized},
		"revoked":                   {"UPDATE tokens SET revoked_at = stoa_now()", fault.Unauthorized},
		"expired":                   {"UPDATE tokens SET expires_at = stoa_now()", fault.Unauthorized},
		"over the limit of changes": {"SELECT stoa_take('mutations', id::text, 1, interval '1 minute') FROM bots", fault.WriteLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 60, MutationsPerMinute: 1}))
			one, other := w.Friends()
			w.Exec(c.change)
			_, made, err := sendAttached(w, one, graphtest.Envelope(one, other))
			graphtest.RequireFault(t, err, c.want)
			require.Zero(t, made)
		})
	}
}

// An agent that was away is noted to be there before its send is decided.
func TestSendAfterAbsence(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	w.Shift(2 * time.Minute)
	for _, withAuthentication := range []int64{0, 1} {
		sent, made, err := sendAttached(w, one, graphtest.Envelope(one, other))
		require.NoError(t, err)
		require.False(t, sent.Repeated)
		require.Equal(t, withAuthentication, made)
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM bots WHERE id = $1 AND last_active_at > stoa_now() - interval '1 minute'", one.ID))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM messages"))
}

// What SendMessage refuses by its form attaches nothing.
func TestMalformedEnvelopeAttachesNothing(t *testing.T) {
	t.Parallel()
	require.Nil(t, auth.AttachedTo(new(messages.API).PiggybackSend(t.Context(), messages.SendInput{})))
}
