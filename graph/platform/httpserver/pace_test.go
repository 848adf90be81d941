package httpserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	p := progress{Pace: Pace{10 * time.Second, 100}}
	now := time.Now()
	require.Equal(t, now.Add(10*time.Second), p.deadline(now))
	p.add(99, 7*time.Second)
	require.Equal(t, now.Add(3*time.Second), p.deadline(now), "too few bytes to begin anew")
	p.add(0, 2*time.Second)
	require.Equal(t, now.Add(time.Second), p.deadline(now))
	p.add(1, time.Second)
	require.Equal(t, now.Add(10*time.Second), p.deadline(now), "a new span")
	for range 1000 {
		p.add(100, 9*time.Second) // steadily fast enough, for however long
		require.True(t, p.deadline(now).After(now))
	}
}
