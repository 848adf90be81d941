package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/child"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// replicated is one PostgreSQL of a primary and its standby, over TCP on the loopback.
type replicated struct {
	t                testing.TB
	folder, programs string
	// address is the address of its listener, url the URL of the role and database stoa.
	address, url string
	credential   *syscall.Credential
	process      *child.Process
	log          bytes.Buffer
}

// newPrimary starts a database with an empty database stoa.
func newPrimary(t testing.TB) *replicated {
	t.Helper()
	p := newReplicated(t)
	p.run("initdb", "-D", p.folder, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	p.write("pg_hba.conf", "host all,replication all 127.0.0.0/8 trust\n")
	p.start()
	p.exec("postgres", "CREATE ROLE stoa LOGIN")
	p.exec("postgres", "CREATE DATABASE stoa OWNER stoa TEMPLATE template0")
	return p
}

// newStandby starts a standby that follows p.
func (p *replicated) newStandby() *replicated {
	p.t.Helper()
	s := newReplicated(p.t)
	s.run("pg_basebackup", "-D", s.folder, "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "-d", p.urlOf("postgres"))
	s.start()
	return s
}

func newReplicated(t testing.TB) *replicated {
	t.Helper()
	found := graphtest.Got(filepath.Glob("/usr/lib/postgresql/*/bin/initdb"))(t)
	require.NotEmpty(t, found)
	folder, err := os.MkdirTemp(testClusterParent(), "stoa-replicated-") //nolint:usetesting // PostgreSQL's account may not enter t.TempDir
	require.NoError(t, err)
	p := &replicated{t: t, folder: folder, programs: filepath.Dir(found[len(found)-1]), address: graphtest.Address()}
	p.url = "postgres://stoa@" + p.address + "/stoa?sslmode=disable"
	t.Cleanup(func() {
		if p.process != nil {
			p.stop()
		}
		require.NoError(t, os.RemoveAll(folder))
	})
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		account := graphtest.Got(user.Lookup("postgres"))(t)
		uid := graphtest.Got(strconv.Atoi(account.Uid))(t)
		gid := graphtest.Got(strconv.Atoi(account.Gid))(t)
		p.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(folder, uid, gid))
	}
	return p
}

func (p *replicated) urlOf(database string) string {
	return "postgres://postgres@" + p.address + "/" + database + "?sslmode=disable"
}

func (p *replicated) command(program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(p.t.Context(), filepath.Join(p.programs, program), args...)
	command.Dir = p.folder
	command.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	return command
}

func (p *replicated) run(program string, args ...string) {
	p.t.Helper()
	out, err := p.command(program, args...).CombinedOutput()
	require.NoError(p.t, err, "%s: %s", program, out)
}

func (p *replicated) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600))
}

func (p *replicated) start() {
	p.t.Helper()
	host, port, err := net.SplitHostPort(p.address)
	require.NoError(p.t, err)
	command := p.command("postgres", "-D", p.folder, "-c", "listen_addresses="+host, "-c", "port="+port, "-c", "fsync=off",
		"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", "max_wal_size=64MB", "-c", "wal_receiver_status_interval=1")
	p.process, err = child.Start(p.t.Context(), command, &p.log, func(line []byte) bool {
		return strings.Contains(string(line), "ready to accept")
	})
	require.NoError(p.t, err, "%s", &p.log)
}

// stop stops the database, which sends everything to its standbys first.
func (p *replicated) stop() {
	p.process.Signal(syscall.SIGINT)
	select {
	case <-p.process.Ended():
	case <-time.After(slack.TestWait):
		p.process.Kill()
	}
}

// promote makes a standby the primary.
func (p *replicated) promote() { p.run("pg_ctl", "promote", "-w", "-D", p.folder) }

// exec runs a statement as superuser.
func (p *replicated) exec(database, statement string) {
	p.t.Helper()
	pool := graphtest.Got(sql.Open("postgres", p.urlOf(database)))(p.t)
	defer pool.Close()
	graphtest.OK(p.t)(pool.ExecContext(p.t.Context(), statement))
}

// bothHosts is the URL of a primary and its standby.
func bothHosts(a, b *replicated) string {
	return fmt.Sprintf("postgres://stoa@%s,%s/stoa?sslmode=disable", a.address, b.address)
}

// awaitPaused waits until a standby replays nothing any more.
func (p *replicated) awaitPaused() {
	p.t.Helper()
	pool := graphtest.Got(sql.Open("postgres", p.urlOf("stoa")))(p.t)
	defer pool.Close()
	eventually(p.t, func() bool {
		var state string
		require.NoError(p.t, pool.QueryRowContext(p.t.Context(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state))
		return state == "paused"
	}, "the standby goes on")
}
