package console

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// However many pages are watched, one reader asks for changes, every two seconds, and it ends with the last page.
func TestOneReaderForAllPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		w := watcher{ended: func() bool { return false }, read: func(context.Context) (map[string]string, error) {
			return map[string]string{"bots": strconv.FormatInt(reads.Add(1), 10)}, nil
		}}
		changes := make([]<-chan struct{}, maxLive)
		leave := make([]func(), maxLive)
		for i := range maxLive {
			changes[i], leave[i] = w.enter([]string{"bots"})
		}
		none, _ := w.enter([]string{"bots"})
		require.Nil(t, none)
		for n := range int64(3) {
			synctest.Wait()
			require.Equal(t, 1+n, reads.Load())
			time.Sleep(liveEvery)
			synctest.Wait()
			for _, changed := range changes {
				require.Len(t, changed, 1)
				<-changed
			}
		}
		for _, one := range leave {
			one()
			one() // twice does no harm
		}
		time.Sleep(time.Minute)
		require.EqualValues(t, 4, reads.Load())
		again, last := w.enter(nil)
		require.NotNil(t, again)
		last()
	})
}
