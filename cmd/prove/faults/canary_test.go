package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
	"stoa/graph/platform/slack"
)

// A machine that delays an answer too long is recorded, and the fault is in force until the answer comes.
func TestCanaryRecordsStarvation(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == testbed.CanaryPath && requests.Add(1) == 2 {
			close(asked)
			<-answer
		}
	}))
	defer server.Close()
	recorder := history.NewRecorder(1)
	canary := NewCanary(&testbed.Bed{URL: server.URL}, recorder)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		canary.Run(ctx)
	}()
	<-asked
	require.Eventually(t, func() bool { return len(canary.Pending()) == 1 }, slack.TestWait, 10*time.Millisecond)
	begun := canary.Pending()[0].Start
	close(answer)
	starved := func() (faults []history.Fault) {
		recorder.Record(func(h *history.History) {
			for _, f := range h.Faults {
				if f.Start == begun {
					faults = append(faults, f)
				}
			}
		})
		return faults
	}
	require.Eventually(t, func() bool { return len(starved()) == 1 }, slack.TestWait, 10*time.Millisecond)
	stop()
	<-ended
	require.Empty(t, canary.Pending())
	require.GreaterOrEqual(t, starved()[0].End-begun, starvation)
}
