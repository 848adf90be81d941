package events_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// writer is a transaction that has written an event and waits to be ended.
type writer struct {
	version int
	commit  chan bool
	ended   chan error
}

var errGivenUp = errors.New("given up")

// begin starts a transaction that writes an event.
func begin(t testing.TB, w *graphtest.World, to *graphtest.Agent, version int) *writer {
	t.Helper()
	held := &writer{version, make(chan bool), make(chan error, 1)}
	written := make(chan error, 1)
	go func() {
		held.ended <- w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			err := w.Events.Add(ctx, tx, order(to, version))
			written <- err
			if err != nil || !<-held.commit {
				return errors.Join(err, errGivenUp)
			}
			return nil
		})
	}()
	require.NoError(t, <-written)
	return held
}

func (h *writer) end(t testing.TB, commit bool) {
	t.Helper()
	h.commit <- commit
	if err := <-h.ended; commit {
		require.NoError(t, err)
	}
}

// A reader that starts each pass at the horizon of its last pass sees every committed event, whatever the order in which
// transactions draw sequences and end.
func TestNothingIsLostBehindTheHorizon(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		agent := w.Agent()
		var (
			open      []*writer
			horizon   events.Horizon
			settled   int64
			started   int
			committed int
			seen      = make(map[uuid.UUID]bool)
		)
		advance := func(*rapid.T) {
			next, err := w.Events.Advance(t.Context(), horizon)
			require.NoError(rt, err)
			require.GreaterOrEqual(rt, next.Settled, horizon.Settled)
			horizon = next
		}
		read := func(*rapid.T) (rows int) {
			from := cursor(agent, 1000)
			from.After = settled
			begun := horizon.Settled
			batch := fetch(t, w, from)
			for _, e := range batch.Events {
				seen[e.ID] = true
			}
			settled = max(settled, begun)
			return len(batch.Events)
		}
		end := func(commit bool) {
			if len(open) == 0 {
				return
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
			open[i].end(t, commit)
			open = append(open[:i:i], open[i+1:]...)
			if commit {
				committed++
			}
		}
		defer func() { // a failed draw must not leave transactions open
			for _, h := range open {
				h.end(t, false)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) {
				if len(open) < 4 {
					started++
					open = append(open, begin(t, w, agent, started))
				}
			},
			"commit":  func(*rapid.T) { end(true) },
			"give up": func(*rapid.T) { end(false) },
			"advance": advance,
			"read":    func(rt *rapid.T) { read(rt) },
		})
		for len(open) > 0 {
			end(true)
		}
		read(rt)
		require.Len(rt, seen, committed)
		// If no transaction is open, the horizon catches up, and events before it are not read again.
		last := w.Count("SELECT coalesce(max(sequence), 0) FROM events")
		require.Eventually(t, func() bool { advance(rt); return horizon.Settled >= last }, slack.TestWait, soon)
		read(rt)
		require.Zero(rt, read(rt))
	})
}

func TestTheHorizonOfANewDatabaseIsNothing(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("ALTER SEQUENCE event_sequence RESTART WITH 1")
	var horizon events.Horizon
	for range 3 {
		next := graphtest.Got(w.Events.Advance(t.Context(), horizon))(t)
		require.Zero(t, next.Settled, "no sequence was drawn")
		horizon = next
	}
	tell(t, w, order(agent, 1))
	require.Eventually(t, func() bool {
		next, err := w.Events.Advance(t.Context(), horizon)
		horizon = next
		return err == nil && horizon.Settled == 1
	}, slack.TestWait, soon)
}
