package httpserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := progress{Pace: Pace{10 * time.Second, 100}}
		// timed moves n bytes, waits for them, and returns the time allowed.
		timed := func(n int, waits time.Duration) (within time.Duration) {
			set := func(deadline time.Time) error {
				within = time.Until(deadline)
				return nil
			}
			moved, err := p.timed(set, func() (int, error) {
				time.Sleep(waits)
				return n, nil
			})
			require.NoError(t, err)
			require.Equal(t, n, moved)
			return within
		}
		require.Equal(t, 10*time.Second, timed(99, 7*time.Second))
		time.Sleep(time.Hour) // the server's own time does not count
		require.Equal(t, 3*time.Second, timed(0, 2*time.Second), "too few bytes to begin anew")
		require.Equal(t, time.Second, timed(1, time.Second))
		require.Equal(t, 10*time.Second, timed(0, 0), "a new span")
		for range 1000 {
			require.Equal(t, 10*time.Second, timed(100, 9*time.Second), "steadily fast enough, for however long")
		}
	})
}

// AwaitFresh is the part of Shutdown that ends the connections on which no request comes.
func (s *Server) AwaitFresh(ctx context.Context) { s.awaitFresh(ctx) }
