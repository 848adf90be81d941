package cluster

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Clusters that start together use one database, which the first of them runs and which ends with the first.
func TestShared(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := spawn(t, folder, nil)
	url := other.url(t)
	ended := make(chan error, 3)
	cfg := config(folder)
	cfg.Ended = func(err error) { ended <- err }
	var clusters [3]*Cluster
	var group sync.WaitGroup
	for i := range clusters {
		group.Go(func() {
			var err error
			if clusters[i], err = Start(context.Background(), cfg); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.False(t, t.Failed())
	for _, c := range clusters {
		require.Equal(t, url, c.URL())
	}
	db := connect(t, url)
	pid := pidOf(t, folder)
	stop(t, clusters[0])
	require.NoError(t, db.PingContext(t.Context()))
	require.Equal(t, pid, pidOf(t, folder))

	require.NoError(t, other.in.Close())
	require.NoError(t, other.Wait())
	require.Error(t, <-ended)
	require.Error(t, <-ended)
	stop(t, clusters[1])
	stop(t, clusters[2])
	require.True(t, isStopped(t, folder))
}

// A data folder is refused, with its name, if another process has locked it and the database does not answer.
func TestLocked(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	dir := must(os.Open(filepath.Join(cfg.DataDir, "postgres")))(t)
	defer dir.Close()
	held := must(tryLock(dir))(t)
	require.True(t, held)
	c := &Cluster{config: cfg, data: cfg.DataDir, folder: filepath.Join(cfg.DataDir, "postgres")}
	c.dir = must(os.Open(c.folder))(t)
	defer c.dir.Close()
	require.ErrorContains(t, c.startOrShare(t.Context(), pollInterval), c.folder+" is locked by another process")
}

// A stop without time left ends the database immediately and reports that; only open transactions are lost.
func TestStopOutOfTime(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	c := must(Start(t.Context(), cfg))(t)
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
	owner := must(ownerOf(filepath.Join(folder, "postgres")))(t)
	runs := must(ownerOf(filepath.Join("/proc", strconv.Itoa(pidOf(t, folder)))))(t)
	require.Equal(t, owner.Uid, runs.Uid)
	require.NotZero(t, runs.Uid)
	if own := os.Geteuid(); own != 0 {
		require.EqualValues(t, own, runs.Uid)
	}
	session := must(syscall.Getpgid(pidOf(t, folder)))(t)
	require.NotEqual(t, syscall.Getpgrp(), session, "out of reach of the terminal's signals")
	require.NoError(t, connect(t, c.URL()).PingContext(t.Context()))
}

// An ordinary account starts a cluster on its folder, root starts it next, and then the account again. Without root, the account
// is the test's own.
func TestOrdinaryAccountThenRoot(t *testing.T) {
	nightly(t)
	t.Parallel()
	folder, err := os.MkdirTemp("/tmp", "stoa-cluster-test-*") //nolint:usetesting // other accounts must reach it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	var as *syscall.Credential
	if os.Geteuid() == 0 {
		as = nobody(t)
		require.NoError(t, os.Chown(folder, int(as.Uid), int(as.Gid)))
	}
	use := func(s *server) {
		execSQL(t, connect(t, s.url(t)), "CREATE TABLE IF NOT EXISTS kept ()")
		require.NoError(t, s.in.Close())
		require.NoError(t, s.Wait())
		eventually(t, func() bool { return isStopped(t, folder) }, "no process is left")
	}
	use(spawn(t, folder, as))
	before := must(ownerOf(filepath.Join(folder, "postgres")))(t)
	use(spawn(t, folder, nil))
	use(spawn(t, folder, as))
	after := must(ownerOf(filepath.Join(folder, "postgres")))(t)
	require.Equal(t, before, after)
}

// requireSecured requires that the URL opens the cluster, and that nothing else does.
func requireSecured(t *testing.T, c *Cluster) {
	t.Helper()
	db := connect(t, c.URL())
	require.Equal(t, 42, queryValue[int](t, db, "SELECT n FROM kept"))

	bare := regexp.MustCompile(`passfile=[^&]*&?`).ReplaceAllString(c.URL(), "") // it only reaches the socket
	eventually(t, func() bool { return connect(t, bare).PingContext(t.Context()) != nil }, "reaching the socket is not enough")
	wrong := strings.Replace(bare, "stoa@", "stoa:guess@", 1)
	require.ErrorContains(t, connect(t, wrong).PingContext(t.Context()), "password authentication failed")

	info := must(os.Stat(filepath.Join(c.data, passwordFile)))(t)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NotContains(t, c.URL(), passwordOf(t, c))
}

func passwordOf(t *testing.T, c *Cluster) string {
	t.Helper()
	line := must(os.ReadFile(c.passwordPath()))(t)
	return strings.TrimPrefix(strings.TrimSpace(string(line)), "*:*:*:stoa:")
}

// A program that reaches the socket needs the password as well, also on a cluster whose password file was lost.
func TestPassword(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	first := start(t, cfg)
	execSQL(t, connect(t, first.URL()+flushed), "CREATE TABLE kept AS SELECT 42 AS n")
	requireSecured(t, first)
	kept := passwordOf(t, first)
	stop(t, first)
	again := start(t, cfg)
	require.Equal(t, kept, passwordOf(t, again))
	stop(t, again)

	require.NoError(t, os.Remove(again.passwordPath()))
	last := start(t, cfg)
	require.NotEqual(t, kept, passwordOf(t, last))
	requireSecured(t, last)
	stop(t, last)

	require.NoError(t, os.WriteFile(last.passwordPath(), []byte("nonsense\n"), 0o600))
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "remove "+last.passwordPath())
}
