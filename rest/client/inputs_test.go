package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A typed input, its members as Fields and both at once are the same request, under the same operation id. More also sends null.
func TestTypedInputsAreTheSameRequests(t *testing.T) {
	t.Parallel()
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		_, _ = io.WriteString(w, `{"service": {"id": "x"}}`)
	}))
	t.Cleanup(server.Close)
	typed := client.OrderInput{Title: "T", Description: "D", Deadline: "2030-01-31T12:00:00Z", Amount: 9_007_199_254_740_993}
	fields := client.Fields{
		"title": "T", "description": "D", "deadline": "2030-01-31T12:00:00Z", "amount_minor": 9_007_199_254_740_993, "service_id": "s",
	}
	mixed := typed
	typed.ServiceID, mixed.More = "s", client.Fields{"service_id": "s"}
	for _, body := range []any{typed, fields, mixed, client.OrderInput{More: fields}} {
		a := openAgent(t, filepath.Join(t.TempDir(), "agent.key"), server.URL)
		_, _, err := client.Act[client.Service](t.Context(), a, "/orders/x/offer", "service", body)
		require.NoError(t, err)
		require.JSONEq(t, bodies[0], bodies[len(bodies)-1])
	}
	require.Contains(t, bodies[0], "9007199254740993")
	_, err := client.New(server.URL, client.Options{}).UpdateService(t.Context(), "x", client.UpdateServiceInput{
		Title: new(""), More: client.Fields{"amount_minor": nil},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"title": "", "amount_minor": null}`, bodies[len(bodies)-1])
}

// Files that an older program has written beside a key file are valid: pins, openings, handled events and unanswered requests.
func TestFilesOfOlderProgramsCount(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.key")
	known, id, message := agent(1, 1, 1), uuid.NewString(), uuid.NewString()
	pin := must(json.Marshal(map[string]any{"id": known.ID, "handle": known.Handle, "key": *known.Key, "at": "2026-10-01T00:00:00Z"}))(t)
	month := filepath.Join(file+".nonces", time.Now().UTC().Format("2006-01"))
	for path, text := range map[string]string{
		file + ".trust": string(pin) + "\n", month: "AfNkY_xFoyru-UXMOTPScjdX " + message + " -\n", file + ".seen": id + "\n",
		filepath.Join(file+".outbox", "waiting", id+".json"): `{"id": "` + id + `", "method": "POST", "path": "/orders/x/start", "body": {}}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	a := openAgent(t, file, "http://127.0.0.1:1")
	require.ErrorIs(t, a.Trust.Check(agent(1, 1, 2)), client.ErrKeyChanged)
	require.ErrorIs(t, a.Nonces.Claim(keyOf(t, 101), nonceOf(0), uuid.NewString(), "", time.Time{}), client.ErrReplayed)
	require.NoError(t, a.Nonces.Claim(keyOf(t, 101), nonceOf(0), message, "", time.Time{}))
	require.True(t, must(client.OpenSeen(file+".seen"))(t).Has(id))
	waiting := must(a.Outbox.Waiting())(t)
	require.Len(t, waiting, 1)
	require.True(t, strings.HasSuffix(waiting[0].Path, "/start"))
}

// An upload waits until the server has room for it, and its repeat until the server has finished it, but not longer than UploadWait;
// other conflicts are returned.
func TestAnUnfinishedUploadIsWaitedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "upload_busy")
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error": {"code": "upload_unavailable", "message": "wait", "fields": {"upload_id": "unfinished"}}}`)
		case 3:
			_, _ = io.WriteString(w, `{"attachment": {"id": "the file"}}`)
		case 4:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error": {"code": "upload_unavailable", "message": "no", "fields": {"upload_id": "rejected"}}}`)
		default:
			refuse(w, http.StatusTooManyRequests, "upload_busy")
		}
	})
	made, _, err := c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.NoError(t, err)
	require.Equal(t, "the file", made.ID)
	_, _, err = c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.Error(t, err)
	require.EqualValues(t, 4, asked.Load())
	c = client.New(c.Origin(), client.Options{MaxWait: time.Millisecond, UploadWait: time.Millisecond})
	_, _, err = c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.True(t, client.HasCode(err, "upload_busy"), "%v", err)
}

// Bytes that do not match the record's digest are not returned.
func TestADownloadIsTheFileOfItsRecord(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/download") {
			_, _ = io.WriteString(w, "bytes")
			return
		}
		digest := strings.Repeat("0", 64)
		if strings.HasSuffix(r.URL.Path, "/right") {
			digest = fmt.Sprintf("%x", sha256.Sum256([]byte("bytes")))
		}
		_, _ = fmt.Fprintf(w, `{"attachment": {"id": "x", "sha256": %q}}`, digest)
	})
	_, content, err := c.Download(t.Context(), "right")
	require.NoError(t, err)
	require.Equal(t, "bytes", string(content))
	_, _, err = c.Download(t.Context(), "wrong")
	require.ErrorIs(t, err, client.ErrDamaged)
}

// slowly answers any request after a time, with a file or its record.
type slowly time.Duration

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	body := fmt.Sprintf(`{"attachment": {"id": "x", "available": true, "size_bytes": %d}}`, 20<<20)
	if strings.HasSuffix(r.URL.Path, "/x") {
		s = 0
	}
	select {
	case <-time.After(time.Duration(s)):
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// A file has as much time as a slow connection needs for it; any other request ends after Timeout.
func TestAFileMayTakeLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client.New("http://stoa.example", client.Options{HTTP: &http.Client{Transport: slowly(2 * time.Minute)}, Retries: -1})
		require.ErrorIs(t, errOf(c.Wallet(t.Context())), context.DeadlineExceeded)
		_, _, err := c.Upload(t.Context(), "order", "small.jpg", uuid.NewString(), []byte("bytes"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, _, err = c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), make([]byte, 20<<20))
		require.NoError(t, err)
		_, _, err = c.Download(t.Context(), "x")
		require.NoError(t, err)
	})
}

// Programs that mark messages as read at once lose no mark.
func TestReadMarksAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.key")
	a := must(client.OpenAgent(file, "http://stoa.example", client.Options{}))(t)
	var marking sync.WaitGroup
	for i := range 20 {
		marking.Go(func() { assert.NoError(t, a.MarkRead(strconv.Itoa(i), time.Unix(1, 0))) })
	}
	marking.Wait()
	require.Len(t, must(a.ReadUntil())(t), 20)
}

var codeBlocks = regexp.MustCompile("(?s)```(go)?\n(.*?)```")

// A separate module with the two lines of README.md builds the program of README.md without the network.
func TestAnotherModuleBuildsTheProgramOfTheReadme(t *testing.T) {
	t.Parallel()
	here := must(os.Getwd())(t)
	blocks := codeBlocks.FindAllStringSubmatch(string(must(os.ReadFile("README.md"))(t)), -1)
	require.Len(t, blocks, 2)
	lines := strings.Replace(blocks[0][2], "../stoa/rest/client", strconv.Quote(here), 1)
	require.Contains(t, lines, here)
	sums := must(os.ReadFile("go.sum"))(t)

	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/agent\n\ngo 1.26.8\n\n" + lines, "main.go": blocks[1][2], "go.sum": string(sums),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, ".")
	build.Dir = folder
	build.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A program that imports the client compiles no other package of this repository, and of other modules only these.
func TestTheClientIsLight(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOWORK=off")
	out := must(list.Output())(t)
	modules := make(map[string]bool)
	for module := range strings.FieldsSeq(string(out)) {
		modules[module] = true
	}
	own := must(exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Module.Path}}", ".").Output())(t)
	require.Equal(t, map[string]bool{
		strings.TrimSpace(string(own)): true,
		"github.com/google/uuid":       true, "github.com/gorilla/websocket": true,
		"golang.org/x/crypto": true, "golang.org/x/mod": true, "golang.org/x/sys": true, // the first imports the last
	}, modules)
}
