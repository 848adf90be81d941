package live_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/live"
)

// record adds an attempt that ended just now.
func record(r *history.Recorder, operation string, status int) {
	now := r.Now()
	r.Record(func(h *history.History) {
		h.Attempts = append(h.Attempts, history.Attempt{Operation: operation, Process: "server-1", Start: now, End: now, Status: status})
	})
}

// The judge finds an error while the run goes on, and excuses what a fault in force explains.
func TestWatchStopsAtTheFirstViolation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		recorder := history.NewRecorder(1)
		inForce := []history.Fault{{Name: "server-killed", Target: "server-1", Start: recorder.Now()}}
		record(recorder, "excused", 502)
		watch := live.Watch{Recorder: recorder, Behind: time.Millisecond, InForce: func() []history.Fault { return inForce }}
		quiet, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		found, _ := watch.Run(quiet)
		require.Nil(t, found)

		record(recorder, "broken", 500)
		found, judged := watch.Run(t.Context())
		require.NotNil(t, found)
		require.Len(t, judged.Attempts, 2)
		for _, f := range found {
			if f.Name == "no internal error" {
				require.Contains(t, f.Violations[0], "broken")
				continue
			}
			require.Zero(t, f.Count, f.Name)
		}
	})
}
