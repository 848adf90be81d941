package socket

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// §6: at most 50 frames in any second.
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

// §6: a socket is pinged once in an interval of 30 s and a stream twice.
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
			h.receivers[s.slot.BotID] = []receiver{s}
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
