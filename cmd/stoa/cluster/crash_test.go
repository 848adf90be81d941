package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// The database is killed while one session is idle and another would not end
// for years: neither keeps it from coming back.
func TestPostmasterKilled(t *testing.T) {
	t.Parallel()
	folder := initialised(t, filepath.Join(t.TempDir(), "data"))
	c := start(t, config(folder))
	db := connect(t, c.URL()+flushed)
	execSQL(t, db, "CREATE TABLE kept (n int)")
	busy := connect(t, c.URL())
	busy.SetMaxOpenConns(1)
	pid := queryValue[int](t, busy, "SELECT pg_backend_pid()")
	ended := make(chan error, 1)
	go func() {
		_, err := busy.ExecContext(context.Background(), "DO 'BEGIN LOOP END LOOP; END'")
		ended <- err
	}()
	eventually(t, func() bool {
		return queryValue[bool](t, db, fmt.Sprintf("SELECT state = 'active' AND query LIKE 'DO %%' FROM pg_stat_activity WHERE pid = %d", pid))
	}, "the busy session runs")

	for i := range 3 {
		execSQL(t, db, fmt.Sprintf("INSERT INTO kept VALUES (%d)", i))
		killed := pidOf(t, folder)
		require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
		eventually(t, func() bool {
			var n int
			err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM kept").Scan(&n)
			return err == nil && n == i+1 && pidOf(t, folder) != killed
		}, "the database comes back with its rows")
	}
	require.Error(t, <-ended)
}

// The server is killed: its database lives on, and the next server adopts it,
// watches over it, and stops it.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	folder := initialised(t, filepath.Join(t.TempDir(), "data"))
	first := spawn(t, folder, nil)
	db := connect(t, first.url(t)+flushed)
	execSQL(t, db, "CREATE TABLE kept AS SELECT 1 AS n")
	pid := pidOf(t, folder)
	first.kill(t)
	require.Equal(t, 1, queryValue[int](t, db, "SELECT n FROM kept"))

	c := start(t, config(folder))
	require.Equal(t, pid, pidOf(t, folder), "adopted, not started again")
	require.Equal(t, 1, queryValue[int](t, connect(t, c.URL()), "SELECT n FROM kept"))

	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, func() bool { return db.PingContext(t.Context()) == nil && pidOf(t, folder) != pid }, "the adopted database comes back")
	stop(t, c)
	eventually(t, func() bool { return isStopped(t, folder) }, "no process is left")
}

// Both are killed at once, and the pid of the lost postmaster is another
// program's by the time of the next start.
func TestPIDOfOtherProgram(t *testing.T) {
	t.Parallel()
	folder := initialised(t, filepath.Join(t.TempDir(), "data"))
	first := spawn(t, folder, nil)
	db := connect(t, first.url(t)+flushed)
	execSQL(t, db, "CREATE TABLE kept AS SELECT 1 AS n")
	pid := pidOf(t, folder)
	first.kill(t)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, func() bool { return isStopped(t, folder) }, "the database ends")

	owner, err := ownerOf(filepath.Join(folder, "postgres"))
	require.NoError(t, err)
	stranger := exec.Command("sleep", "1000")
	if os.Geteuid() == 0 {
		stranger.SysProcAttr = &syscall.SysProcAttr{Credential: owner.credential()}
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

func TestStalePIDFile(t *testing.T) {
	t.Parallel()
	self, err := readProcess(os.Getpid())
	require.NoError(t, err)
	born, err := self.startTime()
	require.NoError(t, err)
	require.WithinDuration(t, began, born, slack.TestWait)
	require.True(t, pidFile{pid: os.Getpid(), started: born}.stale(), "another program")
	require.False(t, pidFile{pid: 1 << 30, started: born}.stale(), "nobody")

	unreaped := exec.Command("true")
	require.NoError(t, unreaped.Start())
	eventually(t, func() bool {
		now, err := readProcess(unreaped.Process.Pid)
		return err == nil && now.zombie
	}, "it ends")
	require.True(t, pidFile{pid: unreaped.Process.Pid, started: time.Now()}.stale(), "dead")
	require.NoError(t, unreaped.Wait())
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
	}, "leftovers go, at the latest when whoever still wrote to them has ended")
}
