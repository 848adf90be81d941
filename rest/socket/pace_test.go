package socket

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
)

// A client may send at most 50 frames in any second (§6).
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s socket
		for range 3 {
			for range 50 {
				require.False(t, s.isFast())
			}
			time.Sleep(time.Second - time.Nanosecond)
			require.True(t, s.isFast(), "a second has not passed")
			time.Sleep(time.Second)
		}
		for range 200 {
			require.False(t, s.isFast())
			time.Sleep(time.Second / 50)
		}
		require.False(t, s.isFast())
		require.True(t, s.isFast(), "any second counts")
	})
}

// A socket is pinged once in an interval of 30 s, and a stream twice (§6).
func TestEveryConnectionIsPingedInEachInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New(Config{})
		pings := make(map[int]int)
		sessions := make(map[int]*session)
		for _, rounds := range []int{socketPingRounds, streamPingRounds} {
			s := new(session)
			s.begin(h, nil, rounds)
			s.slot.BotID = uuid.New()
			h.sessions[s.slot.BotID] = []*session{s}
			sessions[rounds] = s
		}
		go every(h.PingInterval/2, nil, h.pingPeers)(t.Context())
		for range 4 {
			time.Sleep(15*time.Second + time.Nanosecond)
			synctest.Wait()
			for rounds, s := range sessions {
				s.mu.Lock()
				if s.pending.ping {
					pings[rounds]++
				}
				s.pending.ping = false
				s.mu.Unlock()
			}
		}
		require.Equal(t, map[int]int{1: 4, 2: 2}, pings)
	})
}

func TestInflightRemembersReceivedEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f inflight
		var order, settled []uuid.UUID
		acked := make(map[uuid.UUID]bool)
		sequence := int64(0)
		for range rapid.IntRange(0, 3*settledKept).Draw(t, "steps") {
			if len(order) > 0 && (f.full() || rapid.Bool().Draw(t, "settle")) {
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				id := order[i]
				if rapid.Bool().Draw(t, "ack") {
					require.Equal(t, ackFirst, f.ack(id))
					acked[id] = true
				}
				// The event is missing from a batch that may end before the last event in flight.
				cut := rapid.IntRange(i+1, len(order)).Draw(t, "read")
				batch := events.Batch{More: cut < len(order), Last: f.pending[cut-1].sequence}
				for _, s := range f.pending[:cut] {
					if s.id != id {
						batch.Events = append(batch.Events, events.Queued{ID: s.id, Sequence: s.sequence})
					}
				}
				f.prune(batch)
				f.prune(batch) // again it changes nothing
				order, settled = append(order[:i:i], order[i+1:]...), append(settled, id)
				continue
			}
			id := uuid.New()
			sequence++
			f.send(id, sequence)
			order = append(order, id)
		}
		require.Len(t, f.pending, len(order))
		for i, id := range order {
			require.Equal(t, id, f.pending[i].id)
			require.True(t, f.holds(id))
			require.Equal(t, len(order)-i-1, f.behind(f.pending[i].sequence))
		}
		require.Equal(t, ackUnknown, f.ack(uuid.New()))
		for i, id := range settled {
			require.False(t, f.holds(id))
			require.Equal(t, i >= len(settled)-settledKept, f.received(id))
			if f.received(id) {
				require.Equal(t, acked[id], f.ack(id) == ackRepeated)
				require.Equal(t, ackRepeated, f.ack(id))
			}
		}
	})
}
