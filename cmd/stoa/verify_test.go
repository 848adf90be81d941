package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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
	raw := graphtest.Got(os.ReadFile("../../rest/client/testdata/receipts.json"))(t)
	var v receiptVectors
	require.NoError(t, json.Unmarshal(raw, &v))
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
	code, out, _ := runInProcess(append(trusted, "--terms", save("terms.json", v.Terms), "--file", save("roses.txt", []byte(v.InputFile)))...)
	require.Zero(t, code)
	require.Contains(t, out, "@ada paid 1100 for work of @ben, who got 1000")
	require.Contains(t, out, "5 stars")
	for _, wrong := range [][]string{
		{"--terms", save("other.json", []byte(`{"title":"Another"}`))}, {"--file", save("violets.txt", []byte("Violets"))},
		{"--file", filepath.Join(folder, "missing")},
	} {
		code, out, _ = runInProcess(append(trusted, wrong...)...)
		require.Equal(t, 1, code, wrong)
		require.Empty(t, out)
	}
	code, _, _ = runInProcess("verify", file, "--keys", file)
	require.Equal(t, 1, code, "a receipt is no key set")
	code, _, _ = runInProcess("verify", file, "--log-key", "x")
	require.Equal(t, 1, code)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keys" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(v.Keys)
	}))
	defer server.Close()
	code, _, _ = runInProcess("verify", file, "--keys", server.URL+"/keys", "--log-key", v.LogKey)
	require.Zero(t, code)
	code, _, _ = runInProcess("verify", file, "--keys", server.URL, "--log-key", v.LogKey)
	require.Equal(t, 1, code)
}

// witnessProcess is `stoa witness` in a folder.
type witnessProcess struct {
	testing.TB

	folder, address, vkey string
	cmd                   *exec.Cmd
	log                   *logBuffer
	command               []string // other than usual; it runs in folder
}

func newWitness(t testing.TB, logs ...string) *witnessProcess {
	t.Helper()
	w := &witnessProcess{TB: t, folder: t.TempDir(), address: graphtest.Address(), log: newLogBuffer()}
	w.knows(logs...)
	return w
}

// knows writes the file of logs, which is read at the start.
func (w *witnessProcess) knows(logs ...string) {
	w.Helper()
	require.NoError(w, os.WriteFile(filepath.Join(w.folder, "logs"), []byte(strings.Join(logs, "\n")+"\n"), 0o600))
}

// stop ends the witness.
func (w *witnessProcess) stop() {
	w.Helper()
	require.NoError(w, w.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(w, w.cmd.Wait())
}

// setting is the witness as a server's STOA_WITNESSES names it.
func (w *witnessProcess) setting() string { return w.vkey + " http://" + w.address }

func (w *witnessProcess) args() []string {
	if w.command != nil {
		return w.command
	}
	return []string{"witness", "--logs", filepath.Join(w.folder, "logs"), "--state", filepath.Join(w.folder, "state"),
		"--key", filepath.Join(w.folder, "key"), "--name", "witness.example", "--listen", w.address}
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
	vkey := graphtest.Got(bufio.NewReader(out).ReadString('\n'))(w)
	w.vkey = strings.TrimSpace(vkey)
}

func (w *witnessProcess) submit(l *keylogtest.Log, size int64) witness.Cosigned {
	w.Helper()
	targets := graphtest.Got(witness.ParseTargets(w.setting()))(w)
	prove := func(_ context.Context, old, size int64) ([]tlog.Hash, error) { return l.Consistency(old, size), nil }
	return witness.NewSubmitter(targets, slack.TestWait).Submit(w.Context(), []string{targets[0].Key}, l.Checkpoint(size), prove)[0]
}

// A witness that is killed at any moment never goes back behind a head that it has signed.
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
		require.NotEmpty(t, signed.Line)
		require.NoError(t, w.cmd.Process.Signal(syscall.SIGKILL))
		_ = w.cmd.Wait()
	}
	w.start()
	code, _, complaint := runProgram(t, w.args())
	require.Equal(t, exitFailure, code)
	require.Contains(t, complaint, "another witness uses it")
	w.stop()
	require.EqualValues(t, 0o600, graphtest.Got(os.Stat(filepath.Join(w.folder, "key")))(t).Mode())
}
