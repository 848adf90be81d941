package limits_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
)

func TestWindowSlides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := limits.NewWindow(4, time.Second)
		accepted := func(tries int) (count int) {
			for range tries {
				if w.Add("ada") <= 4 {
					count++
				}
			}
			return count
		}
		require.Equal(t, 4, accepted(9), "refused events do not count")
		require.Equal(t, 1, w.Add("bea"), "another key")
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, 2, accepted(9), "half of the window before counts")
		time.Sleep(time.Second)
		require.Equal(t, 3, accepted(9), "half of two")
		time.Sleep(2 * time.Second)
		require.Equal(t, 4, accepted(9))
	})
}
