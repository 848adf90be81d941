package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/child"
	"stoa/cmd/stoa/doctor/engine"
	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// changing is a proxy that makes a server's descriptions false: its skill names a request that does not exist, and its
// robots.txt is lost.
func changing(s *testServer) string {
	l := s.tamperingProxy()
	l.missing = "/robots.txt"
	l.tamper(func(r *http.Request, answer []byte) []byte {
		if len(answer) > 0 && strings.HasSuffix(r.URL.Path, ".md") {
			answer = append(answer, "\nCall POST /api/v1/nothing first.\n"...)
		}
		if strings.HasSuffix(r.URL.Path, "/api-catalog") {
			answer = bytes.ReplaceAll(answer, []byte("/openapi.json"), []byte("/bots/me"))
		}
		if strings.HasSuffix(r.URL.Path, "/ai-catalog.json") {
			answer = bytes.Replace(answer, []byte(s.url), []byte("http://elsewhere.example"), 1)
		}
		return bytes.ReplaceAll(answer, []byte(s.url), []byte(l.url))
	})
	return l.url
}

// The tests' database has all features that the server needs.
func TestDoctorOfADatabase(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	stdout := succeeds(t)(runInProcess("doctor", "--database", address))
	require.NotContains(t, stdout, "fails")
	require.Contains(t, stdout, "ok    LISTEN and NOTIFY\n")

	fails(t, exitFailure, "does not exist")(runInProcess("doctor", "--database", strings.Replace(address, "/testdb_", "/none_", 1)))
}

// A role without rights fails. A pooler in transaction mode has no sessions; with a direct URL for sessions, every check passes.
func TestDoctorOfAPooler(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	primary := newPrimary(t)
	primary.exec("postgres", "CREATE ROLE reader LOGIN")
	code, stdout, stderr := runInProcess("doctor", "--database", strings.Replace(primary.url, "stoa@", "reader@", 1))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stdout, "permission denied for database")
	require.Contains(t, stderr, "checks failed")

	through, _ := startPooler(t, primary, "pool_mode = transaction", "default_pool_size = 8")
	code, stdout, _ = runInProcess("doctor", "--json", "--database", through)
	require.Equal(t, exitFailure, code)
	var failed []string
	for _, result := range parsed[engine.Report](t, stdout).Results {
		if !result.OK {
			failed = append(failed, result.Name)
		}
	}
	require.Equal(t, []string{"sessions", "LISTEN and NOTIFY", "advisory locks of sessions"}, failed)

	succeeds(t)(runInProcess("doctor", "--database", through, "--database-direct", primary.url))
}

// pgbouncer returns the pooler's program from the PATH, or else from Debian's folder, which is not on every PATH. Without one it
// skips the test; make test installs it.
func pgbouncer(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path
	}
	const installed = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(installed); err != nil {
		t.Skip("PgBouncer is not installed: ", err)
	}
	return installed
}

// startPooler starts a PgBouncer in front of a database and returns the URL through it and its log.
func startPooler(t testing.TB, p *replicated, settings ...string) (url string, log *logBuffer) {
	t.Helper()
	program := pgbouncer(t)
	host, port, err := net.SplitHostPort(p.address)
	require.NoError(t, err)
	near := newReplicated(t) // it provides folder, account and address
	nearHost, nearPort, err := net.SplitHostPort(near.address)
	require.NoError(t, err)
	path := filepath.Join(near.folder, "pgbouncer.ini")
	near.write("pgbouncer.ini", fmt.Sprintf("[databases]\nstoa = host=%s port=%s dbname=stoa user=stoa\n[pgbouncer]\n"+
		"listen_addr = %s\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\n%s\n",
		host, port, nearHost, nearPort, strings.Join(settings, "\n")))
	require.NoError(t, os.Chmod(path, 0o644))
	command := exec.CommandContext(t.Context(), program, path)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: near.credential}
	log = newLogBuffer()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the pooler:\n%s", log)
		}
	})
	near.process, err = child.Start(t.Context(), command, log, func(line []byte) bool {
		return strings.Contains(string(line), "process up")
	})
	require.NoError(t, err)
	return near.url, log
}

// ignored are the parameters that PgBouncer refuses by default; the role has them instead.
const ignored = "ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout, client_connection_check_interval, jit"

// Several agents send messages, orders, events, files and jobs at once through four shared connections. PgBouncer keeps prepared
// statements from 1.21 on.
func TestTransactionPooling(t *testing.T) {
	t.Parallel()
	version := graphtest.Got(exec.CommandContext(t.Context(), pgbouncer(t), "-V").Output())(t)
	var major, minor int
	graphtest.OK(t)(fmt.Sscanf(string(version), "PgBouncer %d.%d", &major, &minor))
	if major == 1 && minor < 21 {
		t.Skipf("PgBouncer %d.%d does not keep prepared statements", major, minor)
	}
	primary := newPrimary(t)
	through, _ := startPooler(t, primary, "pool_mode = transaction", "default_pool_size = 4", "max_prepared_statements = 500", ignored)
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+through, "STOA_DATABASE_DIRECT_URL="+primary.url)...)
	liveStories(t, s)
	require.NotContains(t, s.log.String(), "internal_error")
	require.NotContains(t, s.log.String(), "prepared statement")
	output(t, []string{"backup"}, "STOA_DATABASE_URL="+through, "STOA_DATABASE_DIRECT_URL="+primary.url,
		"STOA_DATA_DIR="+s.data)
}

func TestSessionPoolingBesideADirectURL(t *testing.T) {
	t.Parallel()
	primary := newPrimary(t)
	through, log := startPooler(t, primary, "pool_mode = session", "default_pool_size = 40", ignored)
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+through, "STOA_DATABASE_DIRECT_URL="+primary.url)...)
	liveStories(t, s)

	// A pooler may not survive a cancel request, so a statement whose caller has disconnected sends none.
	ada := s.join("Agent", "agent")
	database := graphtest.Got(sql.Open("postgres", primary.urlOf("stoa")))(t)
	defer database.Close()
	lock := graphtest.Got(database.BeginTx(t.Context(), nil))(t)
	graphtest.OK(t)(lock.ExecContext(t.Context(), "LOCK TABLE orders"))
	hasty := client.New(s.url, client.Options{Token: ada.Token(), Timeout: time.Second, Retries: -1})
	require.ErrorIs(t, graphtest.Err(hasty.Once(t.Context(), http.MethodGet, "/orders", nil)), context.DeadlineExceeded)
	time.Sleep(time.Second) // a cancel request would be sent at once
	require.NoError(t, lock.Rollback())
	require.NotContains(t, log.String(), "cancel request")
}

// liveStories runs whole stories of agents at the same time; with -short two agents trade.
func liveStories(t *testing.T, s *testServer) {
	t.Helper()
	if testing.Short() {
		ada, ben := s.registered("ada_pools"), s.registered("ben_pools")
		befriend(ada, ben)
		completed(ada, ben, "A sonnet")
		s.uploadImage(s.join("Agent", "agent"), "portfolio")
		return
	}
	var stories sync.WaitGroup
	for range 3 {
		stories.Go(func() {
			// Three stories at once may take longer than a test waits; each story bounds its waits.
			out, err := programCommand(t, []string{"demo", "--url=" + s.url}).CombinedOutput()
			if err != nil {
				t.Errorf("demo: %v\n%s", err, out)
			}
		})
	}
	stories.Wait()
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
}
