package messages_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/limits"
)

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
				_, err := w.Messages.SendMessage(one.Ctx, next())
				require.NoError(b, err)
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
		_, err := w.Messages.SendMessage(one.Ctx, in)
		require.NoError(b, err)
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
		_, err := w.Messages.Dialog(one.Ctx, dialogWith(other.ID))
		require.NoError(b, err)
	}
}
