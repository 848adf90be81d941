package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// must returns the result of a call that must succeed: must(client.NewKeys())(t).
func must[T any](result T, err error) func(require.TestingT) T {
	return func(t require.TestingT) T {
		require.NoError(t, err)
		return result
	}
}

// ok returns a check of a call's results: the call must succeed.
func ok(t require.TestingT) func(any, error) {
	return func(_ any, err error) { require.NoError(t, err) }
}

// errOf returns the error of a call's results.
func errOf(_ any, err error) error { return err }

// serve starts a server with the given answers, and returns a client that waits briefly between retries.
func serve(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client.New(server.URL, quick)
}

var quick = client.Options{MaxWait: time.Millisecond}

// readJSON reads a file, such as the vectors of every client.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(must(os.ReadFile(path))(t), into))
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Request-Id", "r-1")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error": {"code": %q, "message": "no", "fields": {"title": "too long"}}}`, code)
}

func TestFaultsAreTyped(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		refuse(w, http.StatusTooManyRequests, "write_limited")
	})
	_, err := c.Wallet(t.Context())
	fault, ok := errors.AsType[*client.Fault](err)
	require.True(t, ok)
	require.Equal(t, client.Fault{
		Status: 429, Code: "write_limited", Message: "no", Fields: map[string]any{"title": "too long"}, RequestID: "r-1",
		RetryAfter: 7 * time.Second,
	}, *fault)
	require.EqualError(t, err, `write_limited (429): no {"title":"too long"} (retry after 7s) (request r-1)`)
	require.True(t, client.HasCode(err, "write_limited"))
}

// An order that this agent has rated is known without a request, whatever the folder of its key file is called.
func TestARatedOrderIsNotDue(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = io.WriteString(w, `{"rating": {}, "ratings": [], "next_before": null}`)
	})
	folder := filepath.Join(t.TempDir(), "a[b")
	require.NoError(t, os.Mkdir(folder, 0o700))
	a := must(client.OpenAgent(filepath.Join(folder, "agent.key"), c.Origin(), quick))(t)
	rated := client.Order{ID: uuid.NewString(), State: client.StateClosed}
	_, _, err := a.Rate(t.Context(), rated.ID, 5, "")
	require.NoError(t, err)
	due := must(a.RatingsDue(t.Context(), []client.Order{rated}))(t)
	require.Empty(t, due)
	require.EqualValues(t, 1, requests.Load())
}

// A repeatable request is sent until it is answered; any other is sent once (§1.7). The vectors have every change of the API, also
// for the TypeScript client.
func TestRepeatsWhatTheContractAllows(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Method, Path, Body string
		Again              bool
	}
	readJSON(t, "testdata/repeats.json", &rows)
	var described struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	readJSON(t, "../openapi.json", &described)
	missing := make(map[string]bool)
	for path, methods := range described.Paths {
		for method := range methods {
			path, ofAPI := strings.CutPrefix(path, client.Prefix)
			if ofAPI && slices.Contains([]string{"post", "put", "patch", "delete"}, method) {
				missing[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	for _, row := range rows {
		delete(missing, row.Method+" "+row.Path)
		for _, failure := range []string{"lost", "500", "503", "limited"} {
			var times atomic.Int32
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if times.Add(1) > 2 {
					_, _ = io.WriteString(w, `{}`)
					return
				}
				switch failure {
				case "lost":
					panic(http.ErrAbortHandler)
				case "500":
					refuse(w, http.StatusInternalServerError, "internal_error")
				case "503":
					refuse(w, http.StatusServiceUnavailable, "service_unavailable")
				case "limited":
					refuse(w, http.StatusTooManyRequests, "rate_limited")
				}
			})
			_, err := c.Send(t.Context(), row.Method, row.Path, []byte(row.Body))
			if row.Again || failure == "limited" {
				require.NoError(t, err, "%s %s %s", row.Method, row.Path, failure)
				require.EqualValues(t, 3, times.Load())
			} else {
				require.Error(t, err)
				require.EqualValues(t, 1, times.Load(), "%s %s %s", row.Method, row.Path, failure)
			}
		}
	}
	require.Empty(t, missing, "without a row in testdata/repeats.json")
}

// A handle of 32 hexadecimal digits is no id.
func TestFindsAnAgentByAnyHandle(t *testing.T) {
	t.Parallel()
	handle := strings.Repeat("ada0", 8)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("handle") != handle {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, `{"bots": [{"handle": %q}]}`, handle)
	})
	require.Equal(t, handle, must(c.Find(t.Context(), "@"+handle))(t).Handle)
	require.Equal(t, handle, must(c.Find(t.Context(), handle))(t).Handle)
}

// A list is read page by page, and only as far as the loop needs.
func TestListsAreReadAsFarAsAsked(t *testing.T) {
	t.Parallel()
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		switch r.URL.Query().Get("page") {
		case "":
			_, _ = io.WriteString(w, `{"orders": [{"id": "a"}, {"id": "b"}], "next_page": 2}`)
		case "2":
			_, _ = io.WriteString(w, `{"orders": [{"id": "c"}], "next_page": null}`)
		}
	})
	var ids []string
	for order, err := range c.Orders(t.Context(), "closed") {
		require.NoError(t, err)
		ids = append(ids, order.ID)
	}
	require.Equal(t, []string{"a", "b", "c"}, ids)
	require.Equal(t, []string{"/api/v1/orders?state=closed", "/api/v1/orders?page=2&state=closed"}, asked)
	asked = nil
	require.Len(t, must(client.First(c.Orders(t.Context(), ""), 2))(t), 2)
	require.Len(t, asked, 1)
}

func FuzzOpen(f *testing.F) {
	f.Add(client.Version, "AAAA", "AAAA", "AAAA")
	keys := must(client.ParseKeys(privateKey(1)))(f)
	f.Fuzz(func(t *testing.T, version, nonce, ciphertext, sender string) {
		_, err := keys.Open(client.Envelope{Version: version, Nonce: nonce, Ciphertext: ciphertext, SenderKey: sender})
		require.ErrorIs(t, err, client.ErrSealed)
	})
}

// openAgent makes an agent with a key file for a server.
func openAgent(t *testing.T, file, origin string) *client.Agent {
	t.Helper()
	return must(client.OpenAgent(file, origin, client.Options{Retries: -1}))(t)
}

// A program that is killed between sending and the answer sends the same envelope again.
func TestEnvelopesAreKeptBeforeSending(t *testing.T) {
	t.Parallel()
	var bodies []string
	answers, me := 0, uuid.NewString()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if len(bodies) <= 2 {
			panic(http.ErrAbortHandler)
		}
		if answers++; answers == 1 {
			w.WriteHeader(http.StatusCreated)
		} else {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		_, _ = fmt.Fprintf(w, `{"message": {"sender_id": %q, %s}`, me, body[1:])
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "agent.key")
	key, id := must(client.NewKeys())(t).Public(), uuid.NewString()
	to := client.Brief{ID: uuid.NewString(), Key: &key}
	keys := must(client.NewKeys())(t)
	require.NoError(t, client.Identity{Origin: server.URL, ID: me, Token: "t", PrivateKey: keys.Private()}.Save(file))

	require.NoError(t, openTrust(t, file+".trust").Check(to))

	_, _, err := openAgent(t, file, server.URL).SendMessage(t.Context(), to, "hello", id)
	require.Error(t, err)
	a := openAgent(t, file, "") // the program starts anew
	waiting := must(a.Outbox.Waiting())(t)
	require.Len(t, waiting, 1)
	_, _, err = a.SendMessage(t.Context(), to, "hello", id)
	require.Error(t, err)
	_, _, err = a.SendMessage(t.Context(), to, "other", id)
	require.ErrorIs(t, err, client.ErrOtherContent)
	require.NoError(t, openAgent(t, file, "").Resume(t.Context(), func(client.Kept, *client.Fault) { t.Error("refused") }))
	waiting = must(a.Outbox.Waiting())(t)
	require.Empty(t, waiting)
	sent, replayed, err := a.SendMessage(t.Context(), to, "hello", id)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, "hello", must(a.Keys.Open(sent.Envelope))(t))
	require.Len(t, slices.Compact(bodies), 1, "each time the same bytes went out")
}

// An answered request is kept for 91 days from its answer, however long it waited for that.
func TestAnAnsweredRequestIsKept(t *testing.T) {
	t.Parallel()
	var answers atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !answers.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"rating": {}}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "agent.key")
	a := must(client.OpenAgent(file, server.URL, quick))(t)
	_, _, err := a.Rate(t.Context(), uuid.NewString(), 5, "")
	require.Error(t, err)
	waiting := must(a.Outbox.Waiting())(t)
	require.Len(t, waiting, 1)
	before := time.Now().AddDate(0, 0, -92)
	require.NoError(t, os.Chtimes(filepath.Join(file+".outbox", "waiting", waiting[0].ID+".json"), before, before))
	answers.Store(true)
	require.NoError(t, a.Resume(t.Context(), nil))
	again := must(client.OpenAgent(file, server.URL, quick))(t)
	_, kept, err := again.Outbox.Find(waiting[0].ID)
	require.NoError(t, err)
	require.True(t, kept)
}

// The same request has the same operation id each time, in every program.
func TestActsOnceForTheSameRequest(t *testing.T) {
	t.Parallel()
	var ids []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		ids = append(ids, body["operation_id"].(string))
		_, _ = io.WriteString(w, `{"order": {"id": "x", "version": 5}}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "agent.key")
	for range 2 {
		ok(t)(openAgent(t, file, server.URL).ActOn(t.Context(), "x", "complete", 4, nil))
	}
	ok(t)(openAgent(t, file, server.URL).ActOn(t.Context(), "x", "complete", 5, nil))
	require.Equal(t, ids[0], ids[1])
	require.NotEqual(t, ids[0], ids[2])
}

func TestKeyFilesAreOnesOwn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.key")
	first := openAgent(t, file, "http://127.0.0.1:1/")
	require.Equal(t, os.FileMode(0o600), must(os.Stat(file))(t).Mode().Perm())
	require.Equal(t, first.Keys.Public(), openAgent(t, file, "").Keys.Public())
	require.ErrorIs(t, first.Registered(), client.ErrNotRegistered)

	_, err := client.OpenAgent(file, "http://127.0.0.1:2", client.Options{})
	require.ErrorContains(t, err, "belongs to an agent of http://127.0.0.1:1")
	require.NoError(t, os.Chmod(file, 0o640))
	require.ErrorContains(t, errOf(client.OpenAgent(file, "", client.Options{})), "others may read")
}

// Handled events are known after a crash, even if it cut the last line.
func TestSeenSurvivesCrashes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seen")
	for round := range 3 {
		seen := must(client.OpenSeen(path))(t)
		require.Equal(t, round > 0, seen.Has("a"))
		require.False(t, seen.Has("cut"))
		require.NoError(t, seen.Add("a"))
		file := must(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))(t)
		ok(t)(file.WriteString("cu"))
		require.NoError(t, file.Close())
	}
}

// A listener without a socket polls. An event is acknowledged once, after it was handled, and a repeat is not handled again.
func TestListensByPollsWhereThereIsNoSocket(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var handled, acked []string
	polls := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/events":
			polls++
			_, _ = io.WriteString(w, `{"events": [{"event_id": "e1", "kind": "k", "payload": {}}], "more": false}`)
		case "/api/v1/events/acks":
			var body struct {
				IDs []string `json:"event_ids"`
			}
			_ = json.NewDecoder(r.Body).Decode(&body)
			if acked = append(acked, body.IDs...); len(acked) == 3 {
				cancel()
			}
			_, _ = io.WriteString(w, `{"acked": [], "unknown": []}`)
		default:
			refuse(w, http.StatusNotFound, "not_found")
		}
	})
	seen := must(client.OpenSeen(filepath.Join(t.TempDir(), "seen")))(t)
	failures := 0
	listener := client.Listener{Client: c, Seen: seen, Handle: func(_ context.Context, e client.Event) error {
		if failures++; failures == 1 {
			return errors.New("not yet")
		}
		require.Empty(t, acked)
		handled = append(handled, e.ID)
		return nil
	}}
	require.ErrorIs(t, listener.Run(ctx), context.Canceled)
	require.Equal(t, []string{"e1"}, handled)
	require.Equal(t, []string{"e1", "e1", "e1"}, acked)
}

func TestListenerStopsWithoutAToken(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusUnauthorized, "unauthorized") })
	seen := must(client.OpenSeen(filepath.Join(t.TempDir(), "seen")))(t)
	require.True(t, client.HasCode((&client.Listener{Client: c, Seen: seen}).Run(t.Context()), "unauthorized"))
}

// The example ends with a closed order. TestTheExampleOfTheGoClient of cmd/stoa gives it a server.
func TestTheExample(t *testing.T) {
	if os.Getenv("STOA_EXAMPLE") == "" {
		t.Skip("it needs a server")
	}
	t.Chdir(t.TempDir())
	Example()
}
