package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/metrics"
	"stoa/jobs"
	"stoa/jobs/inspection/inspectiontest"
	"stoa/rest"
	"stoa/rest/resttest"
)

// object is a JSON object.
type object = map[string]any

// site is a running public listener on a world.
type site struct {
	*graphtest.World
	url      string
	draining atomic.Bool
	t        testing.TB
}

func newSite(t testing.TB, options ...graphtest.Option) *site {
	t.Helper()
	return serve(t, graphtest.New(t, options...), rest.Config{})
}

// shared is the world of tests that do not disturb each other; files also has a file store and the real inspection.
var (
	shared graphtest.Shared
	files  = graphtest.Shared{Setup: func(w *graphtest.World) { w.InspectWith(jobs.InspectFile) }}
)

// sharedSite returns a listener on the shared world.
func sharedSite(t testing.TB) *site {
	t.Helper()
	return serve(t, shared.World(t), rest.Config{})
}

// sharedFileSite returns a listener on the shared world for file tests.
func sharedFileSite(t testing.TB) *site {
	t.Helper()
	return serve(t, files.World(t), rest.Config{})
}

// serve starts a listener on a world; it fills in the world's parts of the configuration.
func serve(t testing.TB, world *graphtest.World, config rest.Config) *site {
	t.Helper()
	return serveWithin(t, world, config, httpserver.DefaultTimeouts())
}

// serveWithin is serve, with timeouts of the HTTP server.
func serveWithin(t testing.TB, world *graphtest.World, config rest.Config, timeouts httpserver.Timeouts) *site {
	t.Helper()
	s := &site{World: world, t: t}
	config.Graph, config.Draining = world.Graph, &s.draining
	errors := new(errorLog)
	config.Logger = slog.New(slog.NewTextHandler(errors, &slog.HandlerOptions{Level: slog.LevelError}))
	t.Cleanup(func() { errors.show(t) })
	config.Checks = metrics.Checks{"database": world.DB.Ping}
	server := graphtest.Got(httpserver.Listen(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), httpserver.Config{Logger: config.Logger, Timeouts: &timeouts}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // some tests leave requests behind
	})
	s.url = "http://" + server.Address()
	config.Origin = s.url
	server.Handle(rest.New(config))
	return s
}

// withAgent returns the site and an agent of its world.
func (s *site) withAgent() (*site, *graphtest.Agent) { return s, s.Agent() }

// errorLog keeps the errors that a server logs, such as the cause of an internal_error.
type errorLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *errorLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// show logs the kept text if the test has failed.
func (l *errorLog) show(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Failed() && l.text.Len() > 0 {
		t.Logf("errors of the server:\n%s", &l.text)
	}
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	// closing is true if the server closes the connection.
	closing bool
	body    object
	raw     []byte
	t       testing.TB
}

// send makes a request. body is JSON text, nil for none; token may be empty.
func (s *site) send(method, path, token string, body any, headers ...string) *answer {
	s.t.Helper()
	var reader io.Reader
	if body != nil {
		text, ok := body.(string)
		if !ok {
			raw := graphtest.Got(json.Marshal(body))(s.t)
			text = string(raw)
		}
		reader = bytes.NewReader([]byte(text))
	}
	request := graphtest.Got(http.NewRequest(method, s.url+path, reader))(s.t)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	request.Host = request.Header.Get("Host") // if it is empty, the host of the URL counts
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw := graphtest.Got(io.ReadAll(response.Body))(s.t)
	return newAnswer(s.t, response, raw)
}

// get, post, put, patch and delete send a request of the API, without a token if by is nil. A path is below /api/v1 or, as in
// answers, whole.
func (s *site) get(by *graphtest.Agent, path string) *answer { return s.call("GET", by, path, nil) }

func (s *site) post(by *graphtest.Agent, path string, body any) *answer {
	return s.call("POST", by, path, body)
}

func (s *site) put(by *graphtest.Agent, path string, body any) *answer {
	return s.call("PUT", by, path, body)
}

func (s *site) patch(by *graphtest.Agent, path string, body any) *answer {
	return s.call("PATCH", by, path, body)
}

func (s *site) delete(by *graphtest.Agent, path string) *answer {
	return s.call("DELETE", by, path, nil)
}

func (s *site) call(method string, by *graphtest.Agent, path string, body any) *answer {
	s.t.Helper()
	token := ""
	if by != nil {
		token = by.Token
	}
	return s.send(method, "/api/v1"+strings.TrimPrefix(path, "/api/v1"), token, body)
}

func newAnswer(t testing.TB, response *http.Response, raw []byte) *answer {
	t.Helper()
	a := &answer{status: response.StatusCode, header: response.Header, closing: response.Close, raw: raw, t: t}
	if len(raw) > 0 && a.header.Get("Content-Type") == "application/json" {
		require.NoError(t, json.Unmarshal(raw, &a.body), "%s", raw)
	}
	return a
}

// is requires a status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.raw)
	return a
}

// ok requires a status and returns the body.
func (a *answer) ok(status int) object {
	a.t.Helper()
	return a.is(status).body
}

// has requires a status and members of the body, and returns the body.
func (a *answer) has(status int, members object) object {
	a.t.Helper()
	contains(a.t, a.ok(status), members)
	return a.body
}

// carries requires headers, given as names and values; an empty value means that the header must be missing.
func (a *answer) carries(headers ...string) *answer {
	a.t.Helper()
	for i := 0; i+1 < len(headers); i += 2 {
		require.Equal(a.t, headers[i+1], a.header.Get(headers[i]), headers[i])
	}
	return a
}

// contains requires an object to have these members. Objects among them may have further members; lists must be equal.
func contains(t testing.TB, card, members object) {
	t.Helper()
	var want object
	require.NoError(t, json.Unmarshal(graphtest.Got(json.Marshal(members))(t), &want))
	for name, value := range want {
		if inner, ok := value.(object); ok && card[name] != nil {
			contains(t, card[name].(object), inner)
		} else {
			require.Equal(t, value, card[name], name)
		}
	}
}

// refused is fault, and checks the headers of the answer as well.
func (a *answer) refused(code fault.Code) *answer {
	a.t.Helper()
	a.fault(code)
	return a
}

// fault requires an error body with the code, under the code's status.
func (a *answer) fault(code fault.Code) object {
	a.t.Helper()
	failure, ok := a.is(fault.New(code).Status()).body["error"].(object)
	require.True(a.t, ok, "%s", a.raw)
	require.Equal(a.t, string(code), failure["code"], "%s", a.raw)
	require.NotEmpty(a.t, failure["message"])
	return failure
}

// TestMain makes the test binary also the inspection program, and checks all answers against the description.
func TestMain(m *testing.M) {
	inspectiontest.Main()
	code := resttest.Main(m, resttest.Complete)
	shared.Close()
	files.Close()
	restricting.Close()
	os.Exit(code)
}

// newFileSite returns a site with a file store and the real inspection.
func newFileSite(t testing.TB, options ...graphtest.Option) *site {
	t.Helper()
	s := newSite(t, options...)
	s.InspectWith(jobs.InspectFile)
	return s
}

// part is a part of a form; a plain value has a nil file name.
type part struct {
	name, fileName string
	bytes          []byte
	plain          bool
}

func value(name, text string) part { return part{name: name, bytes: []byte(text), plain: true} }

func file(name string, b []byte) part { return part{name: "file", fileName: name, bytes: b} }

// uploadForm returns the form of an upload as an agent sends it.
func uploadForm(purpose string, b []byte) []part {
	return []part{file("picture.png", b), value("purpose", purpose), value("upload_id", uuid.NewString())}
}

func encode(t testing.TB, parts []part) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		var (
			to  io.Writer
			err error
		)
		if p.plain {
			to, err = form.CreateFormField(p.name)
		} else {
			to, err = form.CreateFormFile(p.name, p.fileName)
		}
		require.NoError(t, err)
		graphtest.OK(t)(to.Write(p.bytes))
	}
	require.NoError(t, form.Close())
	return b.Bytes(), form.FormDataContentType()
}

// upload sends a form.
func (s *site) upload(token string, parts []part) *answer {
	s.t.Helper()
	body, contentType := encode(s.t, parts)
	return s.send("POST", "/api/v1/attachments", token, string(body), "Content-Type", contentType)
}

// attach uploads a file and returns its record.
func (s *site) attach(by *graphtest.Agent, purpose string, b []byte) object {
	s.t.Helper()
	record, ok := s.upload(by.Token, uploadForm(purpose, b)).ok(201)["attachment"].(object)
	require.True(s.t, ok)
	return record
}

func noise(width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(rand.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func pngOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, noise(width, height)))
	return b.Bytes()
}

func jpegOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, noise(width, height), nil))
	return b.Bytes()
}

// filesIn lists the files below a folder.
func filesIn(t testing.TB, folder string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	}))
	return found
}
