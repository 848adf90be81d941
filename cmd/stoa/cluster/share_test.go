package cluster

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// Clusters that start together share one database; it runs until the last stops.
func TestShared(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := spawn(t, folder, nil)
	var clusters [3]*Cluster
	var group sync.WaitGroup
	for i := range clusters {
		group.Go(func() {
			var err error
			if clusters[i], err = Start(context.Background(), config(folder)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.False(t, t.Failed())
	url := other.url(t)
	for _, c := range clusters {
		require.Equal(t, url, c.URL())
	}
	db := connect(t, url)
	pid := pidOf(t, folder)
	stop(t, clusters[0])
	require.NoError(t, db.PingContext(t.Context()))

	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, func() bool { return db.PingContext(t.Context()) == nil && pidOf(t, folder) != pid }, "one of those left starts it again")
	pid = pidOf(t, folder)
	stop(t, clusters[1])
	require.NoError(t, other.in.Close())
	require.NoError(t, other.Wait())
	require.NoError(t, db.PingContext(t.Context()))
	require.Equal(t, pid, pidOf(t, folder))

	stop(t, clusters[2])
	eventually(t, func() bool { return isStopped(t, folder) }, "the last one stops it")
}

// A stop without time left ends the database the hard way and says so; nothing
// is lost but open transactions.
func TestStopOutOfTime(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	c, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	execSQL(t, connect(t, c.URL()+flushed), "CREATE TABLE kept AS SELECT 1 AS n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Stop(ctx), context.Canceled)
	require.ErrorIs(t, c.Stop(t.Context()), context.Canceled, "the first result stays")
	eventually(t, func() bool { return isStopped(t, cfg.DataDir) }, "no process is left")
	require.Equal(t, 1, queryValue[int](t, connect(t, start(t, cfg).URL()), "SELECT n FROM kept"))
}

// Under any user of the server, PostgreSQL is not root, and the folders above the cluster may be closed to its account.
func TestAccount(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	folder := initialised(t, filepath.Join(closed, "data"))
	c := start(t, config(folder))
	owner, err := ownerOf(filepath.Join(folder, "postgres"))
	require.NoError(t, err)
	runs, err := ownerOf(filepath.Join("/proc", strconv.Itoa(pidOf(t, folder))))
	require.NoError(t, err)
	require.Equal(t, owner.uid, runs.uid)
	require.NotZero(t, runs.uid)
	if own := os.Geteuid(); own != 0 {
		require.EqualValues(t, own, runs.uid)
	}
	session, err := syscall.Getpgid(pidOf(t, folder))
	require.NoError(t, err)
	require.NotEqual(t, syscall.Getpgrp(), session, "out of reach of the terminal's signals")
	require.NoError(t, connect(t, c.URL()).PingContext(t.Context()))
}

// A descriptor that survives exec is not handed to the database. Not parallel:
// it would be handed to any other program that starts meanwhile.
func TestDescriptors(t *testing.T) { //nolint:paralleltest // see above
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	stray, err := syscall.Dup(int(writer.Fd())) // survives exec
	require.NoError(t, err)
	require.NoError(t, writer.Close())

	require.NoError(t, reader.SetReadDeadline(time.Now().Add(slack.TestWait)))
	c := start(t, config(initialised(t, filepath.Join(t.TempDir(), "data"))))
	require.NoError(t, connect(t, c.URL()).PingContext(t.Context()))
	require.NoError(t, syscall.Close(stray))
	_, err = reader.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the database holds none of our descriptors")
}

// An ordinary account starts a cluster on its folder, root goes on with it, and
// the account can take it back. Without root, the account is the test's own.
func TestOrdinaryAccountThenRoot(t *testing.T) {
	nightly(t)
	t.Parallel()
	folder, err := os.MkdirTemp("/tmp", "stoa-cluster-test-*") //nolint:usetesting // other accounts must reach it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	var as *account
	if os.Geteuid() == 0 {
		a := nobody(t)
		as = &a
		require.NoError(t, os.Chown(folder, int(a.uid), int(a.gid)))
	}
	use := func(s *server) {
		execSQL(t, connect(t, s.url(t)), "CREATE TABLE IF NOT EXISTS kept ()")
		require.NoError(t, s.in.Close())
		require.NoError(t, s.Wait())
		eventually(t, func() bool { return isStopped(t, folder) }, "no process is left")
	}
	use(spawn(t, folder, as))
	before, err := ownerOf(filepath.Join(folder, "postgres"))
	require.NoError(t, err)
	use(spawn(t, folder, nil))
	use(spawn(t, folder, as))
	after, err := ownerOf(filepath.Join(folder, "postgres"))
	require.NoError(t, err)
	require.Equal(t, before, after)
}
