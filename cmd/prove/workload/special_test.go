package workload

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
)

// Messages go through the server of their recipient's socket for a while, and then through all the others.
func TestWayTo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &Workload{Recorder: history.NewRecorder(1), servers: []string{"server-1", "server-2", "server-3"}}
		a := &Agent{w: w, dice: rand.New(rand.NewPCG(1, 1))}
		ways := func(recipient int) map[int]bool {
			found := make(map[int]bool)
			for range 100 {
				found[a.wayTo(recipient)] = true
			}
			return found
		}
		require.Equal(t, map[int]bool{0: true}, ways(0))
		require.Equal(t, map[int]bool{1: true}, ways(1))
		time.Sleep(quietPhase)
		require.Equal(t, map[int]bool{1: true, 2: true}, ways(0))
		require.Equal(t, map[int]bool{0: true, 2: true}, ways(1))
		w.servers = w.servers[:1]
		require.Equal(t, map[int]bool{0: true}, ways(1), "there is no other one")
		time.Sleep(quietPhase)
		require.Equal(t, map[int]bool{0: true}, ways(0))
	})
}

// The sockets stay open until what was caused last is due, also if other things took longer than that.
func TestEndSockets(t *testing.T) {
	t.Parallel()
	for _, since := range []time.Duration{0, 4 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			over := time.Now()
			w := &Workload{quiet: quiet{agents: []*Agent{{}}, ended: make(chan struct{}), done: make(chan struct{}), over: over}}
			go func() {
				<-w.quiet.ended
				close(w.quiet.done)
			}()
			time.Sleep(since)
			w.endSockets(t.Context())
			require.Equal(t, max(since, quietEnd), time.Since(over))
		})
	}
}
