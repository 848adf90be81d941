package witness_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/keylog/witness"
)

const (
	origin = "stoa.example/log/1"
	name   = "witness.example"
)

// logOf returns a log whose entries from fork on differ from the entries of a log with another fork.
func logOf(origin, key string, entries, fork int) *keylogtest.Log {
	l := keylogtest.New(origin, keylogtest.Private(key))
	for i := range entries {
		text := fmt.Sprint("entry ", i)
		if i >= fork {
			text = fmt.Sprint("entry ", i, " after ", fork)
		}
		l.Append(keylog.ReceiptEntry([]byte("salt"), text))
	}
	return l
}

// world is a witness that is served, with its folder.
type world struct {
	testing.TB

	folder, url, vkey string
}

func start(t testing.TB, folder string, vkeys ...string) *world {
	t.Helper()
	logs := keylogtest.Got(witness.ParseLogs("# logs\n\n" + strings.Join(vkeys, "\n") + "\n"))(t)
	signer, vkey, err := witness.OpenKey(filepath.Join(folder, "key"), name)
	require.NoError(t, err)
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	w := keylogtest.Got(witness.New(witness.Config{Logs: logs, Signer: signer, Folder: folder, Logger: logger}))(t)
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return &world{t, folder, server.URL, vkey}
}

// answer holds the parts of an answer that a test compares.
type answer struct {
	status          int
	mediaType, body string
}

func (w *world) post(body string) answer {
	w.Helper()
	response, err := http.Post(w.url+"/add-checkpoint", "", strings.NewReader(body))
	require.NoError(w, err)
	return read(w, response)
}

func (w *world) latest(origin string) answer {
	w.Helper()
	sum := sha256.Sum256([]byte(origin))
	response, err := http.Get(w.url + "/" + hex.EncodeToString(sum[:]) + "/checkpoint")
	require.NoError(w, err)
	return read(w, response)
}

func read(t testing.TB, response *http.Response) answer {
	t.Helper()
	defer response.Body.Close()
	body := keylogtest.Got(io.ReadAll(response.Body))(t)
	return answer{response.StatusCode, response.Header.Get("Content-Type"), string(body)}
}

// submission is the body of add-checkpoint, written as C2SP does and not by the package's own code.
func submission(old int64, hashes []tlog.Hash, checkpoint []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", old)
	for _, hash := range hashes {
		b.WriteString(hash.String() + "\n") // base64
	}
	return b.String() + "\n" + string(checkpoint)
}

func (w *world) submit(l *keylogtest.Log, old, size int64) answer {
	w.Helper()
	return w.post(submission(old, l.Consistency(old, size), l.Checkpoint(size)))
}

// cosigned checks the line of an answer under the checkpoint that was submitted.
func (w *world) cosigned(l *keylogtest.Log, size int64, a answer) {
	w.Helper()
	require.Equal(w, http.StatusOK, a.status, a.body)
	require.Equal(w, 1, strings.Count(a.body, "\n"), a.body)
	log := keylogtest.Got(keylog.ParseLogKey(l.Key))(w)
	by := keylogtest.Got(keylog.ParseWitnessKey(w.vkey))(w)
	opened := keylogtest.Got(keylog.Open(append(l.Checkpoint(size), a.body...), log, by))(w)
	require.Contains(w, opened.By, name)
}

// The statuses of C2SP tlog-witness.
func TestStatuses(t *testing.T) {
	t.Parallel()
	l := logOf(origin, "log", 40, 99)
	fork := logOf(origin, "log", 40, 5)
	stranger := logOf("other.example/log/1", "other", 5, 99)
	forged := logOf(origin, "other", 40, 99)
	proof := l.Consistency(10, 20)
	broken := bytes.Replace(l.Checkpoint(20), []byte("\n20\n"), []byte("\n21\n"), 1)
	signer := keylogtest.Got(keylog.NewLogSigner(origin, keylogtest.Private("log")))(t)
	extended := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(20).Text() + strings.Repeat("x", 400) + "\n"}, signer))(t)
	gap := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(20).Text() + "\nx\n"}, signer))(t)
	empty := keylogtest.Got(note.Sign(&note.Note{Text: keylog.Checkpoint{Origin: origin, Root: tlog.Hash{1}}.Text()}, signer))(t)
	other := keylogtest.Got(keylog.NewWitnessSigner("w2", keylogtest.Private("w2"), now))(t)
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"a head that continues the last", submission(10, proof, l.Checkpoint(20)), 200},
		{"the same head once more", submission(10, nil, l.Checkpoint(10)), 200},
		{"with the signatures of others", submission(10, proof, l.Checkpoint(20, other)), 200},
		{"an unknown log", submission(0, nil, stranger.Checkpoint(5)), 404},
		{"an unknown log, whatever the proof", submission(9, nil, stranger.Checkpoint(5)), 404},
		{"another key of that name", submission(10, proof, forged.Checkpoint(20)), 403},
		{"a signature of another text", submission(10, proof, broken), 403},
		{"an old size above the head's", submission(20, nil, l.Checkpoint(10)), 400},
		{"an old size below the last", submission(5, l.Consistency(5, 20), l.Checkpoint(20)), 409},
		{"no old size", submission(0, nil, l.Checkpoint(20)), 409},
		{"an older head", submission(5, nil, l.Checkpoint(5)), 409},
		{"an old size above the last", submission(20, nil, l.Checkpoint(20)), 409},
		{"a fork of the same size", submission(10, nil, fork.Checkpoint(10)), 422},
		{"a fork that is greater", submission(10, fork.Consistency(10, 20), fork.Checkpoint(20)), 422},
		{"no proof", submission(10, nil, l.Checkpoint(20)), 422},
		{"a proof that is cut off", submission(10, proof[1:], l.Checkpoint(20)), 422},
		{"a proof that is too long", submission(10, append(slices.Clip(proof), tlog.Hash{}), l.Checkpoint(20)), 422},
		{"a proof where none is needed", submission(10, proof, l.Checkpoint(10)), 422},
		{"63 hashes", submission(10, make([]tlog.Hash, 63), l.Checkpoint(20)), 422},
		{"64 hashes", submission(10, make([]tlog.Hash, 64), l.Checkpoint(20)), 400},
		{"nothing", "", 400},
		{"no old line", string(l.Checkpoint(20)), 400},
		{"an old size with a zero", strings.Replace(submission(10, proof, l.Checkpoint(20)), "old 10", "old 010", 1), 400},
		{"an old size below 0", strings.Replace(submission(10, proof, l.Checkpoint(20)), "old 10", "old -1", 1), 400},
		{"an old size with two spaces", strings.Replace(submission(10, proof, l.Checkpoint(20)), "old 10", "old  10", 1), 400},
		{"lines of Windows", strings.ReplaceAll(submission(10, proof, l.Checkpoint(20)), "\n", "\r\n"), 400},
		{"what is no hash", strings.Replace(submission(10, proof, l.Checkpoint(20)), "old 10\n", "old 10\nAAAA\n", 1), 400},
		{"no checkpoint", submission(10, proof, nil), 400},
		{"a checkpoint without signatures", submission(10, proof, []byte(l.Head(20).Text()+"\n")), 400},
		{"a text that is too long", submission(10, proof, extended), 400},
		{"a text with an empty line", submission(10, proof, gap), 400},
		{"a body that is too large", submission(10, proof, l.Checkpoint(20)) + strings.Repeat("x", 1<<20), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t, t.TempDir(), l.Key)
			w.cosigned(l, 10, w.submit(l, 0, 10))
			before := w.latest(origin)
			a := w.post(c.body)
			require.Equal(t, c.status, a.status, a.body)
			switch c.status {
			case http.StatusOK:
				require.Equal(t, a.body, w.latest(origin).body[strings.LastIndex(w.latest(origin).body, "— "):])
				return
			case http.StatusConflict:
				require.Equal(t, answer{409, "text/x.tlog.size", "10\n"}, a)
			}
			require.Equal(t, before, w.latest(origin))
		})
	}
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"the first head", submission(0, nil, l.Checkpoint(20)), 200},
		{"the first head with a proof", submission(0, proof, l.Checkpoint(20)), 422},
		{"an empty log", submission(0, nil, l.Checkpoint(0)), 200},
		{"an empty log with a root", submission(0, nil, empty), 422},
		{"a head after one that was never signed", submission(10, proof, l.Checkpoint(20)), 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t, t.TempDir(), l.Key)
			require.Equal(t, 404, w.latest(origin).status)
			a := w.post(c.body)
			require.Equal(t, c.status, a.status, a.body)
			if c.status == http.StatusConflict {
				require.Equal(t, answer{409, "text/x.tlog.size", "0\n"}, a)
			}
		})
	}
	w := start(t, t.TempDir(), l.Key)
	require.Equal(t, 404, w.latest("unknown").status)
	response, err := http.Get(w.url + "/add-checkpoint")
	require.NoError(t, err)
	require.Equal(t, 405, read(t, response).status)
}

// A witness keeps its signed heads after a restart, and refuses a state that another party wrote.
func TestState(t *testing.T) {
	t.Parallel()
	l, folder := logOf(origin, "log", 40, 99), t.TempDir()
	w := start(t, folder, l.Key)
	for size := int64(1); size <= 40; size++ {
		w.cosigned(l, size, w.submit(l, size-1, size))
	}
	kept := w.latest(origin)
	require.Equal(t, 200, kept.status)
	require.Less(t, len(kept.body), 1024)
	again := start(t, folder, l.Key)
	require.Equal(t, w.vkey, again.vkey)
	require.Equal(t, kept, again.latest(origin))
	require.Equal(t, answer{409, "text/x.tlog.size", "40\n"}, again.submit(l, 0, 20))
	again.cosigned(l, 40, again.submit(l, 40, 40))

	entries := keylogtest.Got(os.ReadDir(folder))(t)
	require.Len(t, entries, 2, "a file a log, and the key")
	for _, entry := range entries {
		info := keylogtest.Got(entry.Info())(t)
		require.EqualValues(t, 0o600, info.Mode())
		require.Less(t, info.Size(), int64(1024))
		if entry.Name() == "key" {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		forged := logOf(origin, "other", 3, 99)
		for _, state := range []string{
			"", "x", kept.body[:30], string(forged.Checkpoint(3)), strings.Replace(kept.body, "\n40\n", "\n39\n", 1),
		} {
			require.NoError(t, os.WriteFile(path, []byte(state), 0o600))
			logs := keylogtest.Got(witness.ParseLogs(l.Key))(t)
			_, err := witness.New(witness.Config{Logs: logs, Folder: folder})
			require.Error(t, err, state)
		}
	}
}

// If two conflicting heads are submitted at once, only one is signed.
func TestOneOfManyForksIsSigned(t *testing.T) {
	t.Parallel()
	logs := make([]*keylogtest.Log, 8)
	for i := range logs {
		logs[i] = logOf(origin, "log", 20, 5+i)
	}
	w := start(t, t.TempDir(), logs[0].Key)
	w.cosigned(logs[0], 5, w.submit(logs[0], 0, 5))
	statuses := make([]int, len(logs))
	var all sync.WaitGroup
	for i, l := range logs {
		all.Go(func() { statuses[i] = w.submit(l, 5, 20).status })
	}
	all.Wait()
	signed := 0
	for _, status := range statuses {
		if status == 200 {
			signed++
			continue
		}
		require.Equal(t, 409, status)
	}
	require.Equal(t, 1, signed)
}

// A log with two keys is one log under either key.
func TestKeysOfALog(t *testing.T) {
	t.Parallel()
	l, rotated := logOf(origin, "log", 20, 99), logOf(origin, "rotated", 20, 99)
	w := start(t, t.TempDir(), l.Key, rotated.Key, l.Key)
	w.cosigned(l, 10, w.submit(l, 0, 10))
	require.Equal(t, 409, w.submit(rotated, 0, 20).status)
	w.cosigned(rotated, 20, w.submit(rotated, 10, 20))
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	_, vkey, err := witness.OpenKey(path, name)
	require.NoError(t, err)
	_, again, err := witness.OpenKey(path, "another name counts only when the file is made")
	require.NoError(t, err)
	require.Equal(t, vkey, again)
	raw := keylogtest.Got(os.ReadFile(path))(t)
	for _, wrong := range []string{"", "x", strings.Replace(string(raw), name, "other", 1), string(raw[:len(raw)-4]), vkey} {
		require.NoError(t, os.WriteFile(path, []byte(wrong), 0o600))
		_, _, err = witness.OpenKey(path, name)
		require.Error(t, err, wrong)
	}
	for _, wrong := range []string{"", "two words", "a+b", strings.Repeat("x", 101)} {
		_, _, err = witness.OpenKey(filepath.Join(t.TempDir(), "key"), wrong)
		require.Error(t, err, wrong)
	}
	for _, wrong := range []string{"", "# none\n", vkey, "x"} {
		_, err := witness.ParseLogs(wrong)
		require.Error(t, err, wrong)
	}
}
