package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/graph/platform/slack"
)

// The flags of a run with faults need no command, and each other command has its own.
func TestCommands(t *testing.T) {
	t.Parallel()
	const program = "--server=/bin/true"
	parse := func(line []string) (*kong.Context, error) {
		parser, err := kong.New(new(commands), options()...)
		require.NoError(t, err)
		return parser.Parse(line)
	}
	for command, line := range map[string][]string{
		"faults":       {"--minutes", "3", "--failover", program},
		"judge <file>": {"judge", "main.go"},
		"self-test":    {"self-test", "--bugs", "event-lost,order-role", "--share", "2", "--parts", "4", program},
	} {
		chosen, err := parse(line)
		require.NoError(t, err, command)
		require.Equal(t, command, chosen.Command())
	}
	for _, refused := range [][]string{
		{"judge"}, {"judge", "none.json"}, {"self-test", "--share", "3", "--parts", "2", program},
		{"self-test", "--bugs", "none-of-them", program},
	} {
		_, err := parse(refused)
		require.Error(t, err, refused)
	}
}

// A machine that delays an answer too long is recorded, and the fault is in force until the answer comes.
func TestCanaryRecordsStarvation(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 2 {
			close(asked)
			<-answer
		}
	}))
	defer server.Close()
	recorder := history.NewRecorder(1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		canary(ctx, server.URL, recorder)
	}()
	<-asked
	known := recorder.Known()
	inForce := known.Faults[len(known.Faults)-1]
	require.Greater(t, inForce.End, known.Length)
	require.Eventually(t, func() bool { return recorder.Now()-inForce.Start > starvation }, slack.TestWait, 10*time.Millisecond)
	close(answer)
	starved := func() []history.Fault {
		return slices.DeleteFunc(recorder.Known().Faults, func(f history.Fault) bool {
			return f.Start != inForce.Start || f.End > time.Hour
		})
	}
	require.Eventually(t, func() bool { return len(starved()) == 1 }, slack.TestWait, 10*time.Millisecond)
	stop()
	<-ended
	require.GreaterOrEqual(t, starved()[0].End-inForce.Start, starvation)
}
