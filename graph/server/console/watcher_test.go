package console

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However many pages are watched, one reader asks for changes, at most every two seconds, and it ends with the last page.
func TestOneReaderForAllPages(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	ended := make(chan struct{})
	w := watcher{ended: func() bool { return false }, read: func(ctx context.Context) (map[string]string, error) {
		if reads.Add(1) == 1 {
			context.AfterFunc(ctx, func() { close(ended) })
		}
		return map[string]string{"bots": strconv.FormatInt(reads.Load(), 10)}, nil
	}}
	began := time.Now()
	changes := make([]<-chan struct{}, maxLive)
	leave := make([]func(), maxLive)
	for i := range maxLive {
		changes[i], leave[i] = w.enter([]string{"bots"})
	}
	none, _ := w.enter([]string{"bots"})
	require.Nil(t, none)
	for _, changed := range changes {
		<-changed
	}
	require.LessOrEqual(t, reads.Load(), 1+int64(time.Since(began)/liveEvery))
	for _, one := range leave {
		one()
		one() // twice does no harm
	}
	<-ended
	again, last := w.enter(nil)
	require.NotNil(t, again)
	last()
}
