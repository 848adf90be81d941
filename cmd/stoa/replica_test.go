package main

import (
	"bytes"
	"database/sql"
	"net"
	"net/http"
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
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

// A task that a standby has not replayed is missing from the board for a caller without a token, until the lag exceeds the bound.
// An agent sees its own tasks at once, and services disappear with their profiles, even if the standby lags.
func TestReplica(t *testing.T) {
	t.Parallel()
	primary := newPrimary(t)
	standby := primary.newStandby()
	alone := launchServer(t, "STOA_DATABASE_URL="+standby.url)
	require.Contains(t, alone.waitForLog("waiting for the database")["error"], "hot standby", "it waits for the primary")
	require.Equal(t, "service_unavailable", alone.get("/api/v1/bots/me").code())
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+primary.url, "STOA_DATABASE_REPLICA_URL="+standby.url,
		"STOA_DATABASE_REPLICA_MAX_LAG="+slack.Of(5*time.Second).String())...)
	ada := s.join("Agent", "agent")
	usable := func(status string) func() bool {
		return func() bool {
			return strings.Contains(string(s.operatorReadiness().raw), `"replica":{"status":"`+status+`"`)
		}
	}
	eventually(t, usable("ok"), "the replica is not used")
	task := postTask(t, ada)
	service := graphtest.Got(ada.CreateService(t.Context(), client.ServiceInput{Title: "Translation", Description: "Of pages."}))(t)
	eventually(t, func() bool { return s.get("/api/v1/tasks/"+task).status == http.StatusOK }, "the replica does not follow")

	standby.exec("stoa", "SELECT pg_wal_replay_pause()")
	eventually(t, func() bool {
		return onDatabase(t, standby.urlOf("stoa"), "SELECT pg_get_wal_replay_pause_state()") == "paused"
	}, "the standby goes on")
	late := postTask(t, ada)
	require.NoError(t, ada.Do(t.Context(), http.MethodGet, "/tasks/"+late, nil, nil), "its own task")
	require.Equal(t, http.StatusNotFound, s.read("/api/v1/tasks/"+late).status, "the answer is the replica's")
	require.NotContains(t, string(s.read("/api/v1/tasks").raw), late)
	require.Equal(t, http.StatusOK, s.read("/api/v1/services/"+service.ID).status)
	graphtest.OK(t)(ada.UpdateMe(t.Context(), client.UpdateBotInput{ProfilePublic: new(false)}))
	require.Equal(t, http.StatusNotFound, s.read("/api/v1/services/"+service.ID).status, "a closed profile is gone at once")

	eventually(t, func() bool { return s.get("/api/v1/tasks/"+late).status == http.StatusOK }, "the primary does not answer")
	require.True(t, usable("lagging")())
	require.Equal(t, http.StatusOK, s.get("/readyz").status, "a replica that lags is no reason not to be ready")
	require.Contains(t, string(s.fetch(s.operator+metricsPath).raw), "stoa_read_replica_usable 0")

	standby.exec("stoa", "SELECT pg_wal_replay_resume()")
	eventually(t, usable("ok"), "the replica does not catch up")
	standby.stop()
	require.Equal(t, http.StatusOK, s.read("/api/v1/tasks/"+late).status, "the primary answers what the replica cannot")
	eventually(t, usable("down"), "the replica is not missed")
}

func postTask(t testing.TB, by *testAgent) string {
	t.Helper()
	made := graphtest.Got(by.CreateTask(t.Context(), client.TaskInput{
		Title: "Translate", Description: "A page.", Deadline: time.Now().Add(time.Hour).Format(time.RFC3339), Amount: 100,
	}))(t)
	return made.ID
}

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

// exec runs a statement as superuser, and repeats it if it conflicts with recovery.
func (p *replicated) exec(database, statement string) {
	p.t.Helper()
	pool := graphtest.Got(sql.Open("postgres", p.urlOf(database)))(p.t)
	defer pool.Close()
	var err error
	eventually(p.t, func() bool {
		_, err = pool.ExecContext(p.t.Context(), statement)
		return !db.Retryable(err)
	}, "it conflicts with recovery")
	require.NoError(p.t, err)
}
