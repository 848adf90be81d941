package keylog_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// The log begins with the keys of the server and holds the entry of every agent, which its passport opens once it is appended.
func TestEveryAgentHasAnEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	early := w.Agent()
	require.Equal(t, bots.KeyLog{}, graphtest.Got(w.Bots.Me(early.Ctx))(t).Bot.KeyLog, "nothing is appended yet")
	graphtest.Refused(t, fault.ServiceUnavailable)(w.KeyLog.Checkpoint(t.Context(), 1))
	w.sequence()
	first := w.read(1)
	require.Equal(t, host+"/log/1", first.origin)
	require.Equal(t, append([]byte{2}, digest("log")...), first.entries[0][:33])
	require.Equal(t, append([]byte{2}, digest("receipts")...), first.entries[1][:33])
	published := graphtest.Got(w.KeyLog.Published(t.Context()))(t)
	require.Contains(t, published.Vkeys[0], base64.StdEncoding.EncodeToString(append([]byte{1}, first.entries[0][33:]...)))
	require.Equal(t, "https://"+host+"/log/1", published.URL)
	w.requireOpens(first, early)

	agents := []*graphtest.Agent{early}
	for range 300 {
		agents = append(agents, w.Agent())
	}
	w.sequence()
	whole := w.read(1)
	require.Len(t, whole.labels(t), len(agents))
	require.Equal(t, first.entries, whole.entries[:len(first.entries)])
	for _, agent := range agents[len(agents)-3:] {
		w.requireOpens(whole, agent)
	}
	metrics := graphtest.Got(w.KeyLog.Metrics(t.Context()))(t)
	require.Equal(t, []float64{0, 0, 303, 0}, []float64{metrics[0].Value, metrics[1].Value, metrics[2].Value, metrics[3].Value})
}

// The entry of a deleted agent cannot be opened any more, whether it was appended before or not; the handle stays.
func TestDeletionErasesTheSalt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	logged := w.Agent()
	w.sequence()
	card := w.requireOpens(w.read(1), logged)
	waiting := w.Agent()
	for _, agent := range []*graphtest.Agent{logged, waiting} {
		w.Deleted(agent)
	}
	require.EqualValues(t, 0, w.Count("SELECT count(*) FROM log_openings WHERE salt IS NOT NULL"))
	w.sequence()
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM log_openings o JOIN bots b ON b.id = o.subject_id WHERE o.salt IS NULL"))
	labels := w.read(1).labels(t)
	require.Contains(t, labels, label(card.Handle))
	require.Len(t, labels, 2)
}

// An agent that is deleted while its entry is appended has no salt afterwards.
func TestDeletionWhileAppending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	for range 10 {
		agent := w.Agent()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := w.KeyLog.Sequence(context.Background())
			if err != nil {
				t.Error(err)
			}
		})
		w.Deleted(agent)
		group.Wait()
		w.sequence()
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM log_openings WHERE subject_id = $1 AND salt IS NULL", agent.ID))
	}
	require.Len(t, w.read(1).labels(t), 10)
}

// An entry that was appended never changes.
func TestLeavesAreAppendOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	for _, change := range []string{
		"UPDATE log_leaves SET entry = entry", "DELETE FROM log_leaves", "TRUNCATE log_leaves", "DELETE FROM log_roots",
	} {
		require.ErrorContains(t, graphtest.Err(w.DB.SQL.ExecContext(t.Context(), change)), "append-only", change)
	}
}

// A new key becomes the first once its entry is in the log; the previous key signs beside it for 30 days.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	ctx := t.Context()
	old := graphtest.Got(w.KeyLog.Published(ctx))(t)
	for _, purpose := range []string{keylog.PurposeLog, keylog.PurposeReceipts} {
		require.NoError(t, w.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			number, err := w.KeyLog.RotateKey(ctx, tx, purpose)
			require.Equal(t, 2, number)
			return err
		}))
	}
	waiting := graphtest.Got(w.KeyLog.Published(ctx))(t)
	require.Len(t, waiting.Vkeys, 2)
	require.Equal(t, old.Vkeys[0], waiting.Vkeys[0], "clients believe another first key by its entry")
	w.sequence()
	now := w.read(1)
	published := graphtest.Got(w.KeyLog.Published(ctx))(t)
	require.Len(t, published.Vkeys, 2)
	require.Equal(t, []string{waiting.Vkeys[1], waiting.Vkeys[0]}, published.Vkeys)
	w.open(now.note, old.Vkeys[0])
	require.Equal(t, append([]byte{2}, digest("log")...), now.entries[2][:33])
	require.Contains(t, published.Vkeys[0], base64.StdEncoding.EncodeToString(append([]byte{1}, now.entries[2][33:]...)))
	require.Equal(t, append([]byte{2}, digest("receipts")...), now.entries[3][:33])
	w.Shift(31 * 24 * time.Hour)
	published = graphtest.Got(w.KeyLog.Published(ctx))(t)
	require.Len(t, published.Vkeys, 1)
	_, err := note.Open(w.read(1).note, note.VerifierList(graphtest.Got(note.NewVerifier(old.Vkeys[0]))(t)))
	require.True(t, errors.As(err, new(*note.UnverifiedNoteError)))
}

// Several processes append beside registrations, and some runs are cut off: there are as many entries as agents, none twice, and
// each head continues the earlier ones.
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
				_, _ = process.Sequence(bounded) // interrupted runs fail
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
	published := graphtest.Got(w.KeyLog.Published(t.Context()))(t)
	for _, signed := range heads {
		tree, _ := w.open(signed, published.Vkeys[0])
		require.Equal(t, rootOf(t, whole.entries[:tree.N]), tree.Hash)
	}
}
