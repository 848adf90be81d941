package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// If the database is killed, its last lines are reported, and the processes that shared it are notified. Its next start has every
// row, even if one session was idle and another ran a statement without end.
func TestPostmasterKilled(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 2)
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	cfg.Ended = func(err error) { ended <- err }
	c := start(t, cfg)
	shared := start(t, cfg)
	db := connect(t, c.URL()+flushed)
	execSQL(t, db, "CREATE TABLE kept AS SELECT 42 AS n")
	busy := connect(t, c.URL())
	busy.SetMaxOpenConns(1)
	pid := queryValue[int](t, busy, "SELECT pg_backend_pid()")
	cut := make(chan error, 1)
	go func() {
		_, err := busy.ExecContext(context.Background(), "DO 'BEGIN LOOP END LOOP; END'")
		cut <- err
	}()
	eventually(t, func() bool {
		return queryValue[bool](t, db, fmt.Sprintf("SELECT state = 'active' AND query LIKE 'DO %%' FROM pg_stat_activity WHERE pid = %d", pid))
	}, "the busy session runs")

	require.NoError(t, syscall.Kill(pidOf(t, cfg.DataDir), syscall.SIGKILL))
	require.NoError(t, syscall.Kill(pid, syscall.SIGQUIT)) // its statement would go on
	require.Error(t, <-cut)
	require.ErrorContains(t, <-ended, "signal: killed")
	require.ErrorContains(t, <-ended, "another process ran it")
	stop(t, c)
	stop(t, shared)
	require.Equal(t, 42, queryValue[int](t, connect(t, start(t, cfg).URL()), "SELECT n FROM kept"))
}

// The server is killed: its database ends too, and the next server starts it with every row.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	folder := initialised(t, filepath.Join(t.TempDir(), "data"))
	first := spawn(t, folder, nil)
	execSQL(t, connect(t, first.url(t)+flushed), "CREATE TABLE kept AS SELECT 1 AS n")
	first.kill(t)
	eventually(t, func() bool { return isStopped(t, folder) }, "the database ends")
	require.Equal(t, 1, queryValue[int](t, connect(t, start(t, config(folder)).URL()), "SELECT n FROM kept"))
}

// Server and database are killed at once. At the next start another program has the pid of the lost postmaster.
func TestPIDOfOtherProgram(t *testing.T) {
	t.Parallel()
	folder := initialised(t, filepath.Join(t.TempDir(), "data"))
	first := spawn(t, folder, nil)
	execSQL(t, connect(t, first.url(t)+flushed), "CREATE TABLE kept AS SELECT 1 AS n")
	require.NoError(t, syscall.Kill(pidOf(t, folder), syscall.SIGKILL))
	first.kill(t)
	eventually(t, func() bool { return isStopped(t, folder) }, "the database ends")

	owner, err := ownerOf(filepath.Join(folder, "postgres"))
	require.NoError(t, err)
	stranger := exec.Command("sleep", "1000")
	if os.Geteuid() == 0 {
		stranger.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	}
	require.NoError(t, stranger.Start())
	t.Cleanup(func() {
		require.NoError(t, stranger.Process.Kill())
		_ = stranger.Wait()
	})
	for _, name := range []string{"postmaster.pid", socketFile + ".lock"} {
		path := filepath.Join(folder, "postgres", name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var old int
		_, err = fmt.Sscanf(string(text), "%d", &old)
		require.NoError(t, err)
		rest := text[len(fmt.Sprint(old)):]
		require.NoError(t, os.WriteFile(path, append(fmt.Append(nil, stranger.Process.Pid), rest...), 0o600))
	}
	c := start(t, config(folder))
	require.Equal(t, 1, queryValue[int](t, connect(t, c.URL()), "SELECT n FROM kept"))
	require.NoError(t, stranger.Process.Signal(syscall.Signal(0)), "the stranger is left alone")
}

// A server is killed in the middle of initialisation.
func TestInitialisationKilled(t *testing.T) {
	nightly(t)
	t.Parallel()
	folder := t.TempDir()
	first := spawn(t, folder, nil)
	eventually(t, func() bool { return len(unfinishedIn(t, folder)) > 0 }, "initialisation begins")
	first.kill(t)
	require.NoDirExists(t, filepath.Join(folder, "postgres"))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, unfinished+"older", "base"), 0o700))

	c := start(t, config(folder))
	require.Equal(t, 1, queryValue[int](t, connect(t, c.URL()), "SELECT 1"))
	stop(t, c)
	eventually(t, func() bool {
		stop(t, start(t, config(folder)))
		return len(unfinishedIn(t, folder)) == 0
	}, "leftovers are removed, at the latest when their last writer has ended")
}
