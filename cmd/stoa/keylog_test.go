package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// publishedLog holds the fields of stoa-keys.json about the key log.
type publishedLog struct {
	Origin string   `json:"origin"`
	URL    string   `json:"url"`
	Vkeys  []string `json:"vkeys"`

	Witnesses []string `json:"witnesses"`
	Epochs    []struct {
		Origin string `json:"origin"`
		Size   int64  `json:"size"`
		Reason string `json:"reason"`
	} `json:"epochs"`
}

// publishedLog reads the log's members of stoa-keys.json. While the machine is busy, the log begins late and reads may fail.
func (s *testServer) publishedLog() publishedLog {
	s.t.Helper()
	var published struct {
		Log publishedLog `json:"log"`
	}
	eventually(s.t, func() bool {
		answer := s.get("/.well-known/stoa-keys.json")
		return answer.status == http.StatusOK && json.Unmarshal(answer.raw, &published) == nil && len(published.Log.Vkeys) > 0
	}, "the key log has no key")
	return published.Log
}

// head is the tree of a checkpoint that one of some keys has signed.
func head(t *testing.T, signed []byte, vkey string) tlog.Tree {
	t.Helper()
	verifier, err := note.NewVerifier(vkey)
	require.NoError(t, err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	require.NoError(t, err, "%s", signed)
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	require.Equal(t, verifier.Name(), origin)
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + rest))
	require.NoError(t, err)
	return tree
}

// A database that has lost signed entries answers 503 until the operator begins a new epoch; a restore begins it by itself,
// after every epoch that was signed.
func TestARestoreDoesNotShrinkTheLog(t *testing.T) {
	nightly(t)
	t.Parallel()
	data := migratedData(t)
	start := func() *testServer {
		return startServer(t, append(noLimits, "STOA_DATA_DIR="+data, "STOA_BASE_URL=https://stoa.example")...)
	}
	stop := func(s *testServer) {
		s.stop()
	}
	run := func(args ...string) string { return output(t, args, "STOA_DATA_DIR="+data) }
	logged := func(s *testServer, epoch int, size int64) {
		t.Helper()
		eventually(t, func() bool {
			got := s.get(fmt.Sprintf("/log/%d/checkpoint", epoch))
			return got.status == http.StatusOK && head(t, got.raw, s.publishedLog().Vkeys[0]).N == size
		}, "the log does not grow")
	}

	s := start()
	s.join("Agent", "agent")
	logged(s, 1, 3)
	run("backup")
	stop(s)
	s = start()
	s.join("Agent", "agent")
	logged(s, 1, 4)
	stop(s)
	require.Contains(t, run("backup", "restore", "--replace"), "The key log goes on as stoa.example/log/2, with 4 entries.")

	s = start()
	logged(s, 2, 4)
	published := s.publishedLog()
	require.Equal(t, "stoa.example/log/2", published.Origin)
	require.Len(t, published.Epochs, 1)
	require.EqualValues(t, 3, published.Epochs[0].Size)
	require.Contains(t, published.Epochs[0].Reason, "was signed with 4 entries, and 3 are left")
	require.Equal(t, http.StatusNotFound, s.read("/log/1/checkpoint").status)
	s.join("Agent", "agent")
	logged(s, 2, 5)
	stop(s)

	require.Contains(t, run("backup", "restore", "--replace"), "The key log goes on as stoa.example/log/3, with 4 entries.")

	// As if another program had restored the database since.
	file := filepath.Join(data, "log-head")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "stoa.example/log/3\n9\n%s\n\n", base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	s = start()
	require.Equal(t, http.StatusServiceUnavailable, s.get("/log/3/checkpoint").status)
	late := s.join("Agent", "agent")
	require.True(t, s.hasMetric("stoa_log_behind 1"))
	require.Contains(t, run("log", "new-epoch", "--reason", "the database was restored"), "goes on as stoa.example/log/4, with 5 entries.")
	logged(s, 4, 6)
	require.Contains(t, string(send(t, late.Client, http.MethodGet, "/bots/me", nil).Body), `"key_log":{"index":5,`)
	eventually(t, func() bool { return s.hasMetric("stoa_log_behind 0") }, "it is still behind")

	// An operator replaces the key of the log, which signs beside the next one.
	before := s.publishedLog().Vkeys
	require.Contains(t, s.queryOperator(`mutation { rotateKey(purpose: LOG, reason: "yearly") { purpose number } }`), `"number":2`)
	logged(s, 4, 7)
	after := s.publishedLog().Vkeys
	require.Equal(t, before[0], after[1])
	both := s.read("/log/4/checkpoint").raw
	require.Equal(t, head(t, both, before[0]), head(t, both, after[0]))
	stop(s)
}
