package keylog_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/graphtest"
	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// lose takes the last entries from the database, as a restore of an older backup does.
func (w *world) lose(entries int64) {
	w.Exec("ALTER TABLE log_leaves DISABLE TRIGGER log_leaves_append_only")
	w.Exec("DELETE FROM log_leaves l USING log_head h WHERE h.ended_at IS NULL AND l.epoch = h.epoch AND l.index >= h.size - $1", entries)
	w.Exec("DELETE FROM log_openings o USING log_head h WHERE h.ended_at IS NULL AND o.index >= h.size - $1", entries)
	w.Exec("ALTER TABLE log_leaves ENABLE TRIGGER log_leaves_append_only")
	left := graphtest.Column[[]byte](w.World,
		"SELECT entry FROM log_leaves l JOIN log_head h USING (epoch) WHERE h.ended_at IS NULL ORDER BY index")
	root := rootOf(w.t, left)
	w.Exec("UPDATE log_head SET size = $1, root = $2 WHERE ended_at IS NULL", len(left), root[:])
}

// newEpoch begins an epoch after the greatest head that a process has signed.
func (w *world) newEpoch(process *keylog.API) (next *keylog.Head) {
	greatest := graphtest.Got(process.Signed.Greatest())(w.t)
	require.NoError(w.t, w.DB.Tx(w.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		next, err = keylog.NewEpoch(ctx, tx.SQL, greatest, "a backup was restored")
		return err
	}))
	return next
}

// If a log has lost signed entries, or has others in their place, no process that knows of the signed entries signs or continues
// it, until a new epoch begins with all that is left.
func TestTheLogNeitherShrinksNorForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var agents []*graphtest.Agent
	for range 5 {
		agents = append(agents, w.Agent())
	}
	w.sequence()
	before := w.read(1)
	require.Equal(t, before.note, graphtest.Got(os.ReadFile(w.file))(t))
	ctx := t.Context()

	w.lose(2)
	sameFolder, stranger := w.another(w.file), w.another(filepath.Join(t.TempDir(), "log-head"))
	for _, process := range []*keylog.API{w.KeyLog, sameFolder} {
		_, err := process.Checkpoint(ctx, 1)
		require.ErrorIs(t, err, keylog.ErrBehind)
		graphtest.RequireFault(t, err, fault.ServiceUnavailable)
		require.ErrorIs(t, graphtest.Err(process.Prove(ctx, 1, 3)), keylog.ErrBehind)
		metrics := graphtest.Got(process.Metrics(ctx))(t)
		require.Equal(t, []float64{1, 0}, []float64{metrics[0].Value, metrics[1].Value})
	}
	late := w.Agent()
	require.ErrorIs(t, graphtest.Err(w.KeyLog.Sequence(ctx)), keylog.ErrBehind)
	require.Nil(t, graphtest.Got(w.Bots.Me(late.Ctx))(t).Bot.KeyLog.Index, "new entries stay unproven")

	// A process that does not know of the lost entries continues, and the others find a fork once it has caught up.
	for range 2 {
		w.Agent()
	}
	graphtest.OK(t)(stranger.Sequence(ctx))
	graphtest.OK(t)(stranger.Checkpoint(ctx, 1))
	require.ErrorIs(t, graphtest.Err(w.KeyLog.Checkpoint(ctx, 1)), keylog.ErrForked)
	metrics := graphtest.Got(w.KeyLog.Metrics(ctx))(t)
	require.Equal(t, []float64{1, 1}, []float64{metrics[0].Value, metrics[1].Value})

	w.lose(3)
	left := w.Count("SELECT size FROM log_head")
	next := w.newEpoch(w.KeyLog)
	require.Equal(t, host+"/log/2", next.Origin)
	require.Equal(t, left+1, next.Size)
	graphtest.Refused(t, fault.NotFound)(w.KeyLog.Checkpoint(ctx, 1))
	after := w.read(2)
	require.Equal(t, append([]byte{4}, digest(host+"/log/1")...), after.entries[0][:33])
	formerRoot := rootOf(t, before.entries[:left])
	require.Equal(t, formerRoot[:], after.entries[0][33:])
	require.Equal(t, before.entries[:left], after.entries[1:])
	for _, agent := range agents[:3] {
		w.requireOpens(after, agent)
	}
	published := graphtest.Got(w.KeyLog.Published(ctx))(t)
	require.Len(t, published.Epochs, 1)
	require.Equal(t, host+"/log/1", published.Epochs[0].Origin)
	require.Equal(t, left, published.Epochs[0].Size)
	require.Equal(t, formerRoot[:], published.Epochs[0].Root)
	require.Equal(t, "a backup was restored (stoa.example/log/1 was signed with 7 entries, and 5 are left)", published.Epochs[0].Reason)
	tile, err := w.KeyLog.Tile(ctx, 1, tlog.Tile{W: int(left)})
	require.NoError(t, err, "the rest of the former epoch can still be read")
	require.Len(t, tile, int(left)*32)
	w.Agent()
	w.sequence()
	require.Len(t, w.read(2).labels(t), 4)
}

// A file that was cut off or changed is not taken for a head.
func TestDamagedFileOfTheHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	whole := w.read(1).note
	for _, damaged := range [][]byte{nil, whole[:20], bytes.Replace(whole, []byte("\n2\n"), []byte("\n02\n"), 1), []byte("a\n1\nb\n")} {
		require.NoError(t, os.WriteFile(w.file, damaged, 0o600))
		graphtest.Refused(t, fault.ServiceUnavailable)(w.KeyLog.Checkpoint(t.Context(), 1))
	}
}
