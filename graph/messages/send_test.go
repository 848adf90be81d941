package messages_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/wire"
)

func TestSendStoresAndAnnounces(t *testing.T) {
	t.Parallel()
	woken := make(chan []uuid.UUID, 10)
	w := graphtest.New(t)
	w.Messages.Wake = func(ids []uuid.UUID) { woken <- ids }
	one, other := w.Agent(), w.Agent()
	contactID := w.Befriend(one, other)
	w.Exec("DELETE FROM events")
	for len(woken) > 0 {
		<-woken
	}
	in := graphtest.Envelope(one, other)
	result := graphtest.Got(w.Messages.SendMessage(one.Ctx, in))(t)
	require.False(t, result.Repeated)
	require.Equal(t, []uuid.UUID{other.ID}, <-woken)

	m := result.Message
	require.Equal(t, contactID, m.ContactID)
	require.Equal(t, one.ID, m.SenderID)
	require.Equal(t, other.ID, m.RecipientID)
	require.Equal(t, *in.ClientMessageID, m.ClientMessageID.String())
	require.Equal(t, *in.Nonce, base64.StdEncoding.EncodeToString(m.Nonce))
	require.Equal(t, *in.Ciphertext, base64.StdEncoding.EncodeToString(m.Ciphertext))
	require.Equal(t, *in.SenderPublicKey, base64.StdEncoding.EncodeToString(m.SenderPublicKey))
	require.Equal(t, *in.RecipientPublicKey, base64.StdEncoding.EncodeToString(m.RecipientPublicKey))
	require.Equal(t, "box-v1", m.EncryptionVersion)
	require.Equal(t, 64, m.SizeBytes)
	require.WithinDuration(t, w.Now(), m.CreatedAt, time.Minute)
	require.Equal(t, 90*24*time.Hour, m.ExpiresAt.Sub(m.CreatedAt))

	payload := fmt.Sprintf(`{"message_id":"%s","contact_id":"%s","sender_id":"%s","client_message_id":"%s","created_at":%s}`,
		m.ID, contactID, one.ID, m.ClientMessageID, graphtest.Got(wire.Marshal(m.CreatedAt))(t))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
	require.EqualValues(t, 1, w.Count(`SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = $2 AND payload = $3 AND contact_id = $4 AND message_id = $5`,
		other.ID, string(events.MessageCreated), []byte(payload), contactID, m.ID))

	page := graphtest.Got(w.Messages.Dialog(other.Ctx, dialogWith(one.ID)))(t)
	stored := graphtest.Got(wire.Marshal(page.Messages[0]))(t)
	sent := graphtest.Got(wire.Marshal(m))(t)
	require.Equal(t, string(sent), string(stored))

	repeat := graphtest.Got(w.Messages.SendMessage(one.Ctx, in))(t)
	require.True(t, repeat.Repeated)
	require.Equal(t, string(sent), string(graphtest.Got(wire.Marshal(repeat.Message))(t)))
	require.Empty(t, woken, "a repeat announces nothing")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"))
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	third := w.Agent()
	w.Befriend(one, third)
	in := graphtest.Envelope(one, other)
	first, code := send(t, w, one, in)
	require.Empty(t, code)
	for name, change := range map[string]func(*messages.SendInput){
		"recipient":     func(in *messages.SendInput) { in.RecipientID = graphtest.Ptr(third.ID.String()) },
		"stranger":      func(in *messages.SendInput) { in.RecipientID = graphtest.Ptr(uuid.NewString()) },
		"nonce":         func(in *messages.SendInput) { in.Nonce = graphtest.Ptr(graphtest.RandomBase64(24)) },
		"ciphertext":    func(in *messages.SendInput) { in.Ciphertext = graphtest.Ptr(graphtest.RandomBase64(64)) },
		"sender key":    func(in *messages.SendInput) { in.SenderPublicKey = graphtest.Ptr(graphtest.RandomBase64(32)) },
		"recipient key": func(in *messages.SendInput) { in.RecipientPublicKey = graphtest.Ptr(graphtest.RandomBase64(32)) },
	} {
		_, code := send(t, w, one, changed(in, change))
		require.Equal(t, fault.IdempotencyConflict, code, name)
	}
	again, code := send(t, w, one, changed(in, func(in *messages.SendInput) {
		in.RecipientID = graphtest.Ptr(strings.ToUpper(*in.RecipientID))
		in.ClientMessageID = graphtest.Ptr(strings.ToUpper(*in.ClientMessageID))
	}))
	require.Empty(t, code)
	require.True(t, again.Repeated)
	require.Equal(t, first.Message.ID, again.Message.ID)

	theirs := changed(graphtest.Envelope(other, one), func(to *messages.SendInput) { to.ClientMessageID = in.ClientMessageID })
	answered, code := send(t, w, other, theirs)
	require.Empty(t, code, "ids are each sender's own")
	require.False(t, answered.Repeated)
}

func TestOnlyNewMessagesCount(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2}))
	one, other := w.Friends()
	in := graphtest.Envelope(one, other)
	ctx, record := limits.WithRecord(one.Ctx)
	graphtest.OK(t)(w.Messages.SendMessage(ctx, in))
	require.Len(t, record.Taken(), 1)
	require.Equal(t, limits.Taken{Limit: limits.Messages, Quota: 2, Allowed: true, Remaining: 1}.Remaining, record.Taken()[0].Remaining)
	for range 5 {
		_, code := send(t, w, one, in)
		require.Empty(t, code)
		_, code = send(t, w, one, changed(graphtest.Envelope(one, other), func(again *messages.SendInput) { again.Nonce = in.Nonce }))
		require.Equal(t, fault.NonceReuse, code)
	}
	w.Sent(one, other)
	refused := graphtest.Envelope(one, other)
	ctx, record = limits.WithRecord(one.Ctx)
	require.Positive(t, graphtest.RequireFault(t, graphtest.Err(w.Messages.SendMessage(ctx, refused)), fault.RateLimited).Retry())
	require.False(t, record.Taken()[0].Allowed)
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM message_guards"))
	_, code := send(t, w, one, in)
	require.Empty(t, code, "a repeat goes through at the limit")
	w.Sent(other, one)

	w.Shift(2 * time.Minute)
	sent, code := send(t, w, one, refused)
	require.Empty(t, code, "a refused envelope may be sent later")
	require.False(t, sent.Repeated)
}

func TestExpiredIDsAndNoncesStayBlocked(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Friends()
	in := graphtest.Envelope(one, other)
	_, code := send(t, w, one, in)
	require.Empty(t, code)
	w.Shift(messages.Retention - time.Minute)
	_, code = send(t, w, one, in)
	require.Empty(t, code)
	w.Shift(time.Minute)
	for range 2 {
		expired := graphtest.RequireFault(t, graphtest.Err(w.Messages.SendMessage(one.Ctx, in)), fault.MessageExpired)
		require.Contains(t, expired.Fields, "client_message_id")
		_, code = send(t, w, one, changed(graphtest.Envelope(one, other), func(again *messages.SendInput) { again.ClientMessageID = in.ClientMessageID }))
		require.Equal(t, fault.MessageExpired, code)
		_, code = send(t, w, other, changed(graphtest.Envelope(other, one), func(again *messages.SendInput) { again.Nonce = in.Nonce }))
		require.Equal(t, fault.NonceReuse, code)
		graphtest.OK(t)(w.Messages.DeleteExpired(context.Background()))
		require.Zero(t, w.Count("SELECT count(*) FROM messages"))
	}
}

func TestMain(m *testing.M) {
	graphtest.Checks(30)
	m.Run()
}

func TestExpiryDeletesInBatches(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	fill(w, w.Befriend(one, other), one, other, 1203)
	w.Shift(time.Hour)
	kept := w.Sent(one, other)
	w.Shift(messages.Retention - time.Hour)
	var deleted atomic.Int64
	codes := graphtest.AtOnce(3, func(int) error {
		n, err := w.Messages.DeleteExpired(context.Background())
		deleted.Add(n)
		return err
	})
	require.Equal(t, 3, codes.Count()[""])
	require.EqualValues(t, 1203, deleted.Load())
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages WHERE id = $1", kept.ID))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM messages"))
	require.Zero(t, graphtest.Got(w.Messages.DeleteExpired(context.Background()))(t))
}
