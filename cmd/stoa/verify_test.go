package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/keylog/witness"
)

// receiptVectors holds the vectors of both clients (rest/client/testdata).
type receiptVectors struct {
	Keys      json.RawMessage `json:"keys"`
	LogKey    string          `json:"log_key"`
	Witness   string          `json:"witness"`
	Terms     json.RawMessage `json:"terms"`
	InputFile string          `json:"input_file"`
	Cases     []struct {
		Name    string          `json:"name"`
		File    json.RawMessage `json:"file"`
		Keys    bool            `json:"keys"`
		LogKey  bool            `json:"log_key"`
		Witness bool            `json:"witness"`
		Code    int             `json:"code"`
		JWKS    json.RawMessage `json:"jwks"`
	} `json:"cases"`
}

// The exit code of `stoa verify` is the finding of each vector.
func TestVerify(t *testing.T) {
	t.Parallel()
	v := parsed[receiptVectors](t, readFile(t, "../../rest/client/testdata/receipts.json"))
	folder := t.TempDir()
	save := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	keys, file := save("jwks.json", v.Keys), filepath.Join(folder, "receipt.json")
	for _, c := range v.Cases {
		save("receipt.json", c.File)
		save("jwks.json", v.Keys)
		if c.JWKS != nil {
			save("jwks.json", c.JWKS)
		}
		args := []string{"verify", file}
		if c.Keys {
			args = append(args, "--keys", keys)
		}
		if c.LogKey {
			args = append(args, "--log-key", v.LogKey)
		}
		if c.Witness {
			args = append(args, "--witness", v.Witness)
		}
		code, out, stderr := runInProcess(args...)
		require.Equal(t, c.Code, code, "%s: %s", c.Name, stderr)
		require.Equal(t, c.Code == 0, stderr == "", c.Name)
		if c.Code == 1 {
			require.Empty(t, out, c.Name)
		}
	}

	save("receipt.json", v.Cases[0].File)
	save("jwks.json", v.Keys)
	trusted := []string{"verify", file, "--keys", keys, "--log-key", v.LogKey}
	sound := append(trusted, "--terms", save("terms.json", v.Terms), "--file", save("roses.txt", []byte(v.InputFile)))
	out := succeeds(t)(runInProcess(sound...))
	require.Contains(t, out, "@ada paid 1100 for work of @ben, who got 1000")
	require.Contains(t, out, "5 stars")
	for _, wrong := range [][]string{
		{"--terms", save("other.json", []byte(`{"title":"Another"}`))}, {"--file", save("violets.txt", []byte("Violets"))},
		{"--file", filepath.Join(folder, "missing")},
	} {
		code, out, stderr := runInProcess(append(trusted, wrong...)...)
		fails(t, 1)(code, out, stderr)
		require.Empty(t, out)
	}
	// The receipts of an archive and its orders may be of any size.
	padding := bytes.Repeat([]byte("\n"), 9<<20)
	archive := save("receipts.jsonl", slices.Concat(v.Cases[0].File, padding, v.Cases[0].File))
	orders := save("orders.jsonl", slices.Concat([]byte(`{"id":"x"}`), padding, v.Terms))
	out = succeeds(t)(runInProcess("verify", archive, "--keys", keys, "--log-key", v.LogKey, "--terms", orders))
	require.Equal(t, 2, strings.Count(out, "@ada paid 1100"))

	fails(t, 1)(runInProcess("verify", file, "--keys", file)) // a receipt is no key set
	fails(t, 1)(runInProcess("verify", file, "--log-key", "x"))
}

// witnessProcess is `stoa witness` in a folder.
type witnessProcess struct {
	testing.TB

	folder, address, vkey string
	cmd                   *exec.Cmd
	log                   *logBuffer
}

func newWitness(t testing.TB, log string) *witnessProcess {
	t.Helper()
	w := &witnessProcess{TB: t, folder: t.TempDir(), address: graphtest.Address(), log: newLogBuffer()}
	require.NoError(t, os.WriteFile(filepath.Join(w.folder, "logs"), []byte(log+"\n"), 0o600))
	return w
}

// stop ends the witness.
func (w *witnessProcess) stop() {
	w.Helper()
	require.NoError(w, w.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(w, w.cmd.Wait())
}

// setting returns the witness in the form of a server's STOA_WITNESSES.
func (w *witnessProcess) setting() string { return w.vkey + " http://" + w.address }

// args is the command of docs/operating.md, which runs in folder.
func (w *witnessProcess) args() []string {
	return operatingCommand(w, "witness ", map[string]string{"--name": "witness.example", "--listen": w.address})
}

// start returns once the witness listens.
func (w *witnessProcess) start() {
	w.Helper()
	w.cmd = programCommand(w, w.args())
	w.cmd.Dir = w.folder
	out := graphtest.Got(w.cmd.StdoutPipe())(w)
	w.cmd.Stderr = w.log
	require.NoError(w, w.cmd.Start())
	w.Cleanup(func() { _ = w.cmd.Process.Kill() })
	w.vkey = strings.TrimSpace(graphtest.Got(bufio.NewReader(out).ReadString('\n'))(w))
}

func (w *witnessProcess) submit(l *keylogtest.Log, size int64) witness.Answer {
	w.Helper()
	targets := graphtest.Got(witness.ParseTargets(w.setting()))(w)
	prove := func(_ context.Context, old, size int64) ([]tlog.Hash, error) { return l.Consistency(old, size), nil }
	return witness.NewSubmitter(targets, slack.TestWait).Submit(w.Context(), []string{targets[0].Key}, l.Checkpoint(size), prove)[0]
}

// A witness that is killed at any moment never signs a head before its last one.
func TestWitnessNeverRollsBack(t *testing.T) {
	t.Parallel()
	seed := sha256.Sum256([]byte("log"))
	l := keylogtest.New("stoa.example/log/1", ed25519.NewKeyFromSeed(seed[:]))
	fork := keylogtest.New("stoa.example/log/1", ed25519.NewKeyFromSeed(seed[:]))
	const rounds = 10
	for i := range 2 * rounds {
		l.Append(keylog.ReceiptEntry([]byte("salt"), fmt.Sprint(i)))
		fork.Append(keylog.ReceiptEntry([]byte("salt"), fmt.Sprint("fork", i)))
	}
	w := newWitness(t, l.Key)
	var vkey string
	for size := int64(1); size <= rounds; size++ {
		w.start()
		if size > 1 {
			require.Equal(t, vkey, w.vkey)
			require.ErrorIs(t, w.submit(fork, size-1).Err, witness.ErrForked)
			require.ErrorIs(t, w.submit(fork, size+5).Err, witness.ErrForked)
		}
		if size > 2 {
			require.ErrorIs(t, w.submit(l, size-2).Err, witness.ErrAhead)
		}
		vkey = w.vkey
		signed := w.submit(l, size)
		require.NoError(t, signed.Err)
		require.NotEmpty(t, signed.Text)
		require.NoError(t, w.cmd.Process.Signal(syscall.SIGKILL))
		_ = w.cmd.Wait()
	}
	w.start()
	fails(t, exitFailure, "another witness uses it")(runIn(t, w.folder, w.args()))
	w.log.await(t, "a head does not continue its log")
	w.stop()
	require.EqualValues(t, 0o600, graphtest.Got(os.Stat(filepath.Join(w.folder, "witness.key")))(t).Mode())
}

// publishedLog holds the fields of stoa-keys.json about the key log.
type publishedLog struct {
	Origin           string
	Vkeys, Witnesses []string
	Epochs           []struct {
		Origin, Reason string
		Size           int64
	}
}

// publishedLog reads the log's members of stoa-keys.json. While the machine is busy, the log begins late and reads may fail.
func (s *testServer) publishedLog() publishedLog {
	s.t.Helper()
	var published publishedLog
	eventually(s.t, func() bool {
		if answer := s.get("/.well-known/stoa-keys.json"); answer.status == http.StatusOK {
			published = parsed[struct{ Log publishedLog }](s.t, answer.raw).Log
		}
		return len(published.Vkeys) > 0
	}, "the key log has no key")
	return published
}

// head returns the tree of a checkpoint that the key vkey has signed.
func head(t *testing.T, signed []byte, vkey string) tlog.Tree {
	t.Helper()
	verifier := graphtest.Got(note.NewVerifier(vkey))(t)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	require.NoError(t, err, "%s", signed)
	origin, rest, _ := strings.Cut(opened.Text, "\n")
	require.Equal(t, verifier.Name(), origin)
	return graphtest.Got(tlog.ParseTree([]byte("go.sum database tree\n" + rest)))(t)
}

// A restore begins a new epoch of the key log, after every signed epoch. TestAWitnessShowsThatEntriesWereLost restores a database
// by other means.
func TestARestoreDoesNotShrinkTheLog(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	data := migratedData(t)
	start := func() *testServer {
		return startServer(t, append(noLimits, "STOA_DATA_DIR="+data, "STOA_BASE_URL=https://stoa.example")...)
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
	s.stop()
	s = start()
	s.join("Agent", "agent")
	logged(s, 1, 4)
	s.stop()
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
	s.stop()

	require.Contains(t, run("backup", "restore", "--replace"), "The key log goes on as stoa.example/log/3, with 4 entries.")
}
