package messages_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// send sends an envelope and returns the code of the fault, empty for success.
func send(t testing.TB, w *graphtest.World, from *graphtest.Agent, in messages.SendInput) (*messages.SendResult, fault.Code) {
	t.Helper()
	result, err := w.Messages.SendMessage(from.Ctx, in)
	if err != nil {
		return nil, fault.From(err).Code
	}
	require.NotNil(t, result.Message)
	return result, ""
}

// authenticateAndSend sends as a request does, by the sender's token.
func authenticateAndSend(w *graphtest.World, from *graphtest.Agent, in messages.SendInput) (*messages.SendResult, error) {
	ctx := context.Background()
	v, err := w.Auth.Authenticate(ctx, from.Token, true)
	if err != nil {
		return nil, err
	}
	return w.Messages.SendMessage(viewer.With(ctx, v), in)
}

// changed is a copy of an envelope with some fields replaced.
func changed(in messages.SendInput, change func(*messages.SendInput)) messages.SendInput {
	change(&in)
	return in
}

// unlimited counts every message, like a server with the limits of §8, but never refuses one.
var unlimited = limits.Quotas{MessagesPerMinute: 1_000_000_000}

// envelopes makes new envelopes of one size, so fast that it does not distort the measurement.
func envelopes(one, other *graphtest.Agent, size int) func() messages.SendInput {
	base := graphtest.Envelope(one, other)
	base.Ciphertext = graphtest.Ptr(graphtest.RandomBase64(size))
	var counter atomic.Uint64
	return func() messages.SendInput {
		in := base
		var nonce [24]byte
		binary.BigEndian.PutUint64(nonce[:], counter.Add(1))
		in.Nonce = graphtest.Ptr(base64.StdEncoding.EncodeToString(nonce[:]))
		in.ClientMessageID = graphtest.Ptr(uuid.NewString())
		return in
	}
}

// BenchmarkSend is an accepted send after authentication: check, one statement, wake-up. b.Loop's time per operation is one
// caller's latency in "alone", and the inverse of the throughput of many pairs of friends in "pairs".
func BenchmarkSend(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "16KiB": 16 << 10} {
		b.Run("alone/"+name, func(b *testing.B) {
			w := graphtest.New(b, graphtest.WithQuotas(unlimited))
			one, other := w.Friends()
			next := envelopes(one, other, size)
			for b.Loop() {
				graphtest.OK(b)(w.Messages.SendMessage(one.Ctx, next()))
			}
		})
	}
	b.Run("pairs/1KiB", func(b *testing.B) {
		w := graphtest.New(b, graphtest.WithQuotas(unlimited))
		type pair struct {
			one  *graphtest.Agent
			next func() messages.SendInput
		}
		pairs := make([]pair, 12)
		for i := range pairs {
			one, other := w.Friends()
			pairs[i] = pair{one, envelopes(one, other, 1<<10)}
		}
		var taken atomic.Int32
		b.SetParallelism(len(pairs) / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			p := pairs[int(taken.Add(1))%len(pairs)]
			for pb.Next() {
				if _, err := w.Messages.SendMessage(p.one.Ctx, p.next()); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkRepeat is an identical send that was accepted before.
func BenchmarkRepeat(b *testing.B) {
	w := graphtest.New(b)
	one, other := w.Friends()
	in := graphtest.Envelope(one, other)
	for b.Loop() {
		graphtest.OK(b)(w.Messages.SendMessage(one.Ctx, in))
	}
}

// BenchmarkRoundTrip measures a statement that does nothing, as the baseline of the others.
func BenchmarkRoundTrip(b *testing.B) {
	w := graphtest.New(b)
	for b.Loop() {
		var n int
		require.NoError(b, w.DB.SQL.QueryRowContext(context.Background(), "SELECT $1::int", 1).Scan(&n))
	}
}

// BenchmarkDialog is a full page of a long dialog.
func BenchmarkDialog(b *testing.B) {
	w := graphtest.New(b)
	one, other := w.Agent(), w.Agent()
	fill(w, w.Befriend(one, other), one, other, 20_000)
	w.Exec("ANALYZE messages")
	for b.Loop() {
		graphtest.OK(b)(w.Messages.Dialog(one.Ctx, dialogWith(other.ID)))
	}
}

// BenchmarkDecode reads and judges the body of a message with a box of 1 KiB.
func BenchmarkDecode(b *testing.B) {
	encoded := func(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }
	body := fmt.Appendf(nil, `{"recipient_id":"%s","client_message_id":"%s","nonce":"%s","ciphertext":"%s","encryption_version":"box-v1",`+
		`"sender_public_key":"%s","recipient_public_key":"%s"}`, uuid.New(), uuid.New(), encoded(24), encoded(1<<10), encoded(32), encoded(32))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var in messages.SendInput
		require.NoError(b, in.DecodeBody(body))
		graphtest.OK(b)(in.Check())
	}
}

// BenchmarkCard writes a message with a box of 1 KiB.
func BenchmarkCard(b *testing.B) {
	card := &messages.Card{
		ID: uuid.New(), Nonce: make([]byte, 24), Ciphertext: make([]byte, 1<<10), EncryptionVersion: messages.Version,
		SenderPublicKey: make([]byte, 32), RecipientPublicKey: make([]byte, 32), SizeBytes: 1 << 10, CreatedAt: time.Now(), ExpiresAt: time.Now(),
	}
	b.ReportAllocs()
	for b.Loop() {
		graphtest.OK(b)(wire.Marshal(card))
	}
}
