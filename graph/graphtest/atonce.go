package graphtest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// Codes are the codes of the faults of requests, in order; "" is none.
type Codes []fault.Code

// Count counts each code.
func (c Codes) Count() map[fault.Code]int {
	counts := make(map[fault.Code]int)
	for _, code := range c {
		counts[code]++
	}
	return counts
}

// AtOnce runs requests at the same moment and waits for all.
func AtOnce(requests int, request func(i int) error) Codes {
	var group sync.WaitGroup
	start, codes := make(chan struct{}), make(Codes, requests)
	for i := range requests {
		group.Go(func() {
			<-start
			if err := request(i); err != nil {
				codes[i] = fault.From(err).Code
			}
		})
	}
	close(start)
	group.Wait()
	return codes
}

// Hold runs a statement in a transaction of the test, which keeps its locks until the returned function commits it.
func (w *World) Hold(query string, args ...any) (commit func()) {
	w.t.Helper()
	tx, err := w.DB.SQL.Pool.Begin()
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = tx.Rollback() }) // a test that failed has not committed it
	_, err = tx.Exec(query, args...)
	require.NoError(w.t, err)
	return func() { require.NoError(w.t, tx.Commit()) }
}

// AwaitLocks returns once that many statements of this world wait for a lock.
func (w *World) AwaitLocks(many int64) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.Count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == many
	}, slack.TestWait, 5*time.Millisecond)
}
