package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

func TestHealthCommand(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	listen := "STOA_LISTEN=" + strings.TrimPrefix(s.url, "http://")
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for _, setting := range []string{listen, "STOA_LISTEN=:" + port, "STOA_LISTEN=0.0.0.0:" + port} {
		require.JSONEq(t, `{"status":"ok","version":"`+versionText()+`"}`, output(t, []string{"health"}, setting, "http_proxy=http://127.0.0.1:1"))
	}
	require.Contains(t, output(t, []string{"health", "--ready"}, listen), `"checks"`)
	require.Contains(t, string(s.fetch(s.operator+"/healthz").raw), `"version":"`+versionText()+`"`)

	s.signal(syscall.SIGTERM)
	eventually(t, s.isShuttingDown, "it shuts down")
	require.Regexp(t, "503|refused", complaint(t, []string{"health", "--ready"}, listen))
	s.waitExit()
	require.Contains(t, complaint(t, []string{"health"}, listen), "refused")
}

// All files that name the version name the newest numbered section of the changelog; .ci/package/cut writes them.
func TestEveryFileNamesTheVersion(t *testing.T) {
	t.Parallel()
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindStringSubmatch(readFile(t, "../../CHANGELOG.md"))
	require.NotNil(t, newest)
	require.Equal(t, release, newest[1])
	const client = `stoa-client-(\d+\.\d+\.\d+)\.tgz`
	for _, place := range []struct{ file, pattern string }{
		{".ci/package/chart/Chart.yaml", `(?m)^version: (\S+)$`},
		{".ci/package/chart/Chart.yaml", `(?m)^appVersion: (\S+)$`},
		{"package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/package-lock.json", `(?m)^  "version": "(.*)"`},
		{"rest/npm/package/package.json", `(?m)^  "version": "(.*)"`},
		{"rest/client/typescript/README.md", client},
		{"rest/npm/package/README.md", client},
		{"rest/openapi.yaml", client},
		{"rest/skill.md", client},
		{"rest/llms.txt", client},
	} {
		named := regexp.MustCompile(place.pattern).FindAllStringSubmatch(readFile(t, filepath.Join("../..", place.file)), -1)
		require.NotEmpty(t, named, place)
		for _, name := range named {
			require.Equal(t, release, name[1], place)
		}
	}
}

// The server notifies systemd when it serves, while it works, and when it stops.
func TestSystemdIsNotified(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	socket := graphtest.Got(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}))(t)
	defer socket.Close()
	s := launchServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=100000")

	awaitState := func(prefix string) {
		t.Helper()
		require.NoError(t, socket.SetReadDeadline(time.Now().Add(slack.TestWait)))
		for state := ""; !strings.HasPrefix(state, prefix); {
			buffer := make([]byte, 4096)
			n, err := socket.Read(buffer)
			require.NoError(t, err, "systemd was not told %s", prefix)
			state = string(buffer[:n])
			require.False(t, strings.HasPrefix(state, "WATCHDOG") && prefix == "READY=1", "it works before it serves")
		}
	}
	awaitState("EXTEND_TIMEOUT_USEC=30000000")
	awaitState("READY=1\nSTATUS=Serving http://127.0.0.1:")
	for range 3 {
		awaitState("WATCHDOG=1")
	}
	s.signal(syscall.SIGTERM)
	awaitState("STOPPING=1")
	require.Zero(t, s.waitExit())
}

// The demo runs its story to the end.
func TestDemo(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	_, s := ownServer(t)
	story := output(t, []string{"demo", "--url", s.url, "--operator-address", s.operator}, "STOA_DATA_DIR="+s.data)
	for _, line := range []string{
		"Mira registers as @mira and holds the starting grant of 5000.00 test credits.", "Pia and Noor become friends.",
		"Otto the Reckoner delivers and is paid 15.00. ★★★★★ “All six verdicts right”", "Noor publishes “Four voices: The lighthouse",
		"Noor's ledger has 17 lines, which add up to the wallet: 4913.30.", "All checks passed.",
	} {
		require.Contains(t, story, line)
	}
}

func TestFailedStart(t *testing.T) {
	t.Parallel()
	taken := graphtest.Got(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	address := graphtest.NewDatabase(t)
	stranger := strings.Replace(address, "stoa_test:", "stranger:", 1)
	require.NotEqual(t, address, stranger)
	missing := strings.Replace(address, "testdb_", "missing_", 1)
	require.NotEqual(t, address, missing)
	for name, c := range map[string]struct{ setting, complaint string }{
		"the port is taken":       {"STOA_LISTEN=" + taken.Addr().String(), "address already in use"},
		"the data folder is none": {"STOA_DATA_DIR=" + file, "not a directory"},
		"the login is refused":    {"STOA_DATABASE_URL=" + stranger, "the database: pq:"},
		"there is no database":    {"STOA_DATABASE_URL=" + missing, "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := append(freePorts, "STOA_DATABASE_URL="+address, "STOA_DATA_DIR="+t.TempDir(), c.setting)
			said := complaint(t, []string{"serve"}, settings...)
			require.Contains(t, said, c.complaint)
			require.NotContains(t, said, "testpass77")
		})
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	for roles, served := range map[string]struct{ api, events int }{
		"api":         {http.StatusUnauthorized, http.StatusNotFound},
		"events,jobs": {http.StatusNotFound, http.StatusUpgradeRequired},
		"jobs":        {http.StatusNotFound, http.StatusNotFound},
	} {
		t.Run(roles, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "STOA_DATABASE_URL="+address, "STOA_ROLES="+roles)
			require.Equal(t, http.StatusOK, s.get("/healthz").status)
			require.Equal(t, http.StatusOK, s.get("/readyz").status)
			require.Equal(t, served.api, s.get("/api/v1/bots/me").status)
			require.Equal(t, served.events, s.get("/ws/v1/events/").status)
		})
	}
}

// The operator can switch the public site off.
func TestSite(t *testing.T) {
	t.Parallel()
	off := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_SITE=off")
	for s, status := range map[*testServer]int{sharedServer(t): http.StatusOK, off: http.StatusNotFound} {
		require.Equal(t, http.StatusOK, s.read("/").status)
		require.Equal(t, status, s.read("/tasks").status)
	}
}

// Acts on one process reach the event sockets of another, and the rotation of a token there closes them.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	w, first := ownServer(t)
	second := startServer(t, append(noLimits, "STOA_DATABASE_URL="+w.URL)...)
	ada, ben := first.join("Ada", "ada"), second.join("Ben", "ben")
	require.NoError(t, ada.connect(t.Context()))
	require.NoError(t, ben.connect(t.Context()))
	require.NoError(t, ada.meet(t.Context(), ben))
	ben.Events.take(t, "contact.requested")
	ada.Events.take(t, "contact.accepted")
	require.NoError(t, ada.on(second).Do(t.Context(), http.MethodPost, "/tokens/rotate", nil, nil))
	ada.Events.closedWith(t, 4401)
}

// A server whose database goes back to an older schema is not ready.
func TestOlderSchemaIsNotReady(t *testing.T) {
	t.Parallel()
	url := graphtest.NewDatabase(t)
	s := startServer(t, "STOA_DATABASE_URL="+url)
	require.Equal(t, http.StatusOK, s.get("/readyz").status)
	version := onDatabase(t, url, `DELETE FROM goose_db_version
		WHERE version_id = (SELECT max(version_id) FROM goose_db_version) RETURNING version_id`)
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable }, "still ready")
	onDatabase(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true) RETURNING ''", version)
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusOK }, "not ready again")
}
