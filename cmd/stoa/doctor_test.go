package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/doctor/engine"
	"stoa/graph/graphtest"
)

// changing is a proxy that makes a server's descriptions false: its skill names a request that does not exist, and its
// robots.txt is lost.
func changing(s *testServer) string {
	l := s.liar()
	l.missing = "/robots.txt"
	l.lie(func(r *http.Request, answer []byte) []byte {
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
	code, stdout, stderr := runInProcess("doctor", "--database", address)
	require.Zero(t, code, stdout+stderr)
	require.NotContains(t, stdout, "fails")
	require.Contains(t, stdout, "ok    LISTEN and NOTIFY\n")

	code, _, stderr = runInProcess("doctor", "--database", strings.Replace(address, "/testdb_", "/none_", 1))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "does not exist")
}

// A role without rights fails. A pooler in transaction mode has no sessions; with a direct URL for sessions, every check passes.
func TestDoctorOfAPooler(t *testing.T) {
	nightly(t)
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
	var report engine.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	var failed []string
	for _, result := range report.Results {
		if !result.OK {
			failed = append(failed, result.Name)
		}
	}
	require.Equal(t, []string{"sessions", "LISTEN and NOTIFY", "advisory locks of sessions"}, failed)

	code, stdout, stderr = runInProcess("doctor", "--database", through, "--database-direct", primary.url)
	require.Zero(t, code, stdout+stderr)
}

func TestDoctorWithoutADatabase(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--json", "--database-direct=postgres:///stoa", "--database-spread=SELECT 1"} {
		code, _, stderr := runInProcess("doctor", flag)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "--database is missing")
	}
}
