package witness_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/keylog/witness"
)

func now() time.Time { return time.Unix(1_790_000_000, 0) }

func proverOf(l *keylogtest.Log) witness.Prove {
	return func(_ context.Context, old, size int64) ([]tlog.Hash, error) { return l.Consistency(old, size), nil }
}

func submitterOf(t testing.TB, lines ...string) *witness.Submitter {
	t.Helper()
	targets := keylogtest.Got(witness.ParseTargets(strings.Join(lines, "\n")))(t)
	return witness.NewSubmitter(targets, keylogtest.Wait(2*time.Second))
}

func submitAll(t testing.TB, s *witness.Submitter, signed []byte, prove witness.Prove) []witness.Answer {
	t.Helper()
	return s.Submit(t.Context(), s.Keys(), signed, prove)
}

func (w *world) target() string { return w.vkey + " " + w.url + "/" }

// Each witness signs a log's heads, even if it has another size or another process submitted before.
func TestSubmit(t *testing.T) {
	t.Parallel()
	l := logOf(origin, "log", 40, 99)
	log := keylogtest.Got(keylog.ParseLogKey(l.Key))(t)
	one, two := start(t, t.TempDir(), l.Key), start(t, t.TempDir(), l.Key)
	require.Equal(t, 200, two.submit(l, 0, 7).status)
	first, second := submitterOf(t, one.target(), two.target()), submitterOf(t, one.target(), two.target())
	require.Equal(t, []string{one.vkey, two.vkey}, first.Keys())
	for _, kept := range second.Heads(t.Context(), []string{l.Key})[:1] {
		require.NoError(t, kept.Err)
		require.Empty(t, kept.Text)
	}
	for _, size := range []int64{7, 8, 8, 20, 40} {
		for _, submitter := range []*witness.Submitter{first, second} { // the first has already submitted the head
			signed := l.Checkpoint(size)
			for i, cosigned := range submitAll(t, submitter, signed, proverOf(l)) {
				require.NoError(t, cosigned.Err)
				w := []*world{one, two}[i]
				require.Equal(t, w.vkey, cosigned.Witness)
				w.cosigned(l, size, answer{200, "", cosigned.Text + "\n"})
			}
		}
	}
	for _, kept := range first.Heads(t.Context(), []string{l.Key}) {
		require.NoError(t, kept.Err)
		require.Equal(t, l.Head(40), keylogtest.Got(keylog.Open([]byte(kept.Text), log))(t).Checkpoint)
	}
	for _, cosigned := range submitAll(t, submitterOf(t, one.target(), two.target()), l.Checkpoint(20), proverOf(l)) {
		require.ErrorIs(t, cosigned.Err, witness.ErrAhead)
	}
	fork := logOf(origin, "log", 41, 9)
	for _, size := range []int64{40, 41} {
		for _, cosigned := range submitAll(t, submitterOf(t, one.target()), fork.Checkpoint(size), proverOf(fork)) {
			require.ErrorIs(t, cosigned.Err, witness.ErrForked)
			require.Empty(t, cosigned.Text)
		}
	}
}

// A witness that lies, fails or does not answer costs at most the time-out.
func TestWitnessesThatFail(t *testing.T) {
	t.Parallel()
	l := logOf(origin, "log", 40, 99)
	good := start(t, t.TempDir(), l.Key)
	another := keylogtest.Got(keylog.NewWitnessSigner(name, keylogtest.Private("another"), now))(t)
	byAnother := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(40).Text()}, another))(t)
	signer, vkey, err := witness.OpenKey(t.TempDir()+"/key", "w2")
	require.NoError(t, err)
	ofOther := keylogtest.Got(note.Sign(&note.Note{Text: l.Head(39).Text()}, signer))(t)
	lineOf := func(signed []byte) string { return string(signed[strings.LastIndex(string(signed), "— "):]) }
	for what, c := range map[string]struct {
		complaint string
		handle    http.HandlerFunc
	}{
		"silence": {"deadline", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then net/http notices that the client has gone
			<-r.Context().Done()
		}},
		"a failure": {"500", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }},
		"a redirection": {"302", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, good.url+r.URL.Path, http.StatusFound)
		}},
		"the line of another":    {"cosignature", answering(lineOf(byAnother))},
		"a line of another head": {"cosignature", answering(lineOf(ofOther))},
		"the line of the log":    {"cosignature", answering(lineOf(l.Checkpoint(40)))},
		"nothing":                {"cosignature", func(http.ResponseWriter, *http.Request) {}},
		"sizes without end": {"another size", func() http.HandlerFunc {
			var size atomic.Int64
			return func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusConflict)
				_, _ = w.Write([]byte(string(rune('1'+size.Add(1)%8)) + "\n"))
			}
		}()},
		"what is no size": {"no size", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "x", http.StatusConflict) }},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			bad := httptest.NewServer(c.handle)
			t.Cleanup(bad.Close)
			s := submitterOf(t, vkey+" "+bad.URL, good.target())
			answers := submitAll(t, s, l.Checkpoint(40, signer), proverOf(l)) // an older line of the witness is no answer
			require.ErrorContains(t, answers[0].Err, c.complaint)
			require.ErrorContains(t, answers[0].Err, "witness w2")
			require.Empty(t, answers[0].Text)
			require.NoError(t, answers[1].Err)
			kept := s.Heads(t.Context(), []string{l.Key})
			require.Error(t, kept[0].Err)
			require.NoError(t, kept[1].Err)
		})
	}
	broken := errors.New("the database is away")
	fresh := start(t, t.TempDir(), l.Key)
	require.Equal(t, 200, fresh.submit(l, 0, 7).status)
	failing := func(context.Context, int64, int64) ([]tlog.Hash, error) { return nil, broken }
	answers := submitAll(t, submitterOf(t, fresh.target()), l.Checkpoint(40), failing)
	require.ErrorIs(t, answers[0].Err, broken)
}

func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func TestTargets(t *testing.T) {
	t.Parallel()
	_, vkey, err := witness.OpenKey(t.TempDir()+"/key", name)
	require.NoError(t, err)
	_, other, err := witness.OpenKey(t.TempDir()+"/key", name)
	require.NoError(t, err)
	for _, text := range []string{
		"\n" + vkey + "  https://a.example/w \n\n" + other + " http://b.example",
		vkey + " https://a.example/w," + other + " http://b.example",
	} {
		targets := keylogtest.Got(witness.ParseTargets(text))(t)
		require.Len(t, targets, 2)
		require.Equal(t, vkey, targets[0].Key)
		require.Equal(t, "https://a.example/w", targets[0].URL)
	}
	require.Empty(t, keylogtest.Got(witness.ParseTargets(""))(t))
	for _, wrong := range []string{
		vkey, "https://a.example", vkey + " a.example", vkey + " ftp://a.example", vkey + " https://a.example x",
		vkey + " https://a.example?x=1", "x https://a.example", vkey + " https://a.example\n" + vkey + " https://b.example",
	} {
		_, err := witness.ParseTargets(wrong)
		require.Error(t, err, wrong)
	}
}
