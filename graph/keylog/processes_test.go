package keylog_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// Several processes append beside registrations, and some runs are cut off: there are as many entries as agents, none twice, and
// each head continues those before.
func TestManyProcessesAppend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	const agents = 120
	ctx, stop := context.WithCancel(t.Context())
	var registering, group sync.WaitGroup
	for i := range 3 {
		process := w.another("")
		group.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				bounded, cancel := context.WithCancel(context.Background())
				if round%3 == i {
					time.AfterFunc(time.Duration(round%7)*time.Millisecond, cancel)
				}
				_, _ = process.Sequence(bounded) // those that are cut off fail
				cancel()
			}
		})
	}
	for range 4 {
		registering.Go(func() {
			for range agents / 4 {
				w.Agent()
			}
		})
	}
	var heads [][]byte
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			signed, err := w.KeyLog.Checkpoint(context.Background(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			if len(heads) == 0 || !bytes.Equal(heads[len(heads)-1], signed) {
				heads = append(heads, signed)
			}
		}
	}()
	registering.Wait()
	require.Eventually(t, func() bool { return w.Count("SELECT count(*) FROM log_queue") == 0 }, slack.TestWait, 10*time.Millisecond)
	stop()
	group.Wait()
	<-watched
	whole := w.read(1)
	require.Len(t, whole.labels(t), agents)
	require.Len(t, whole.entries, agents+2)
	require.EqualValues(t, agents, w.Count("SELECT count(*) FROM log_openings WHERE salt IS NOT NULL"))
	published, err := w.KeyLog.Published(t.Context())
	require.NoError(t, err)
	for _, signed := range heads {
		tree, _ := w.open(signed, published.Vkeys[0])
		require.Equal(t, rootOf(t, whole.entries[:tree.N]), tree.Hash)
	}
}
