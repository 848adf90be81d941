package httpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
)

// unbounded holds timeouts that never expire in a test, so every end has another reason.
func unbounded() httpserver.Timeouts {
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Header, timeouts.Idle, timeouts.Body.Time, timeouts.Answer.Time = time.Hour, time.Hour, time.Hour, time.Hour
	return timeouts
}

// start runs a server until the end of the test.
func start(t *testing.T, handler http.HandlerFunc, timeouts httpserver.Timeouts, config httpserver.Config) *httpserver.Server {
	t.Helper()
	config.Logger, config.Timeouts = slog.New(slog.DiscardHandler), &timeouts
	s, err := httpserver.Listen(t.Context(), "127.0.0.1:0", handler, config)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx) // cuts off remaining requests of a test
	})
	return s
}

// client is one connection.
type client struct {
	*net.TCPConn

	in *bufio.Reader
	t  *testing.T
}

func dial(t *testing.T, s *httpserver.Server) *client {
	t.Helper()
	conn, err := net.Dial("tcp", s.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(slack.TestWait)))
	return &client{conn.(*net.TCPConn), bufio.NewReader(conn), t}
}

func (c *client) send(text string) {
	_, err := io.WriteString(c, text)
	require.NoError(c.t, err)
}

// answer is a response read to its end.
type answer struct {
	*http.Response

	raw []byte
}

func (c *client) answer() *answer {
	response, err := http.ReadResponse(c.in, nil)
	require.NoError(c.t, err)
	raw, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, response.Body.Close())
	return &answer{response, raw}
}

// ask sends a request and reads its answer.
func (c *client) ask(text string) *answer {
	c.t.Helper()
	c.send(text)
	return c.answer()
}

// ended requires that the server closes the connection.
func (c *client) ended() {
	rest, err := io.ReadAll(c.in)
	require.NoError(c.t, err)
	require.Empty(c.t, rest)
}

// fault requires the error body of a code, and the headers of every answer.
func (a *answer) fault(t *testing.T, code fault.Code) {
	t.Helper()
	require.Equal(t, fault.New(code).Status(), a.StatusCode, "%s", a.raw)
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(a.raw, &body), "%s", a.raw)
	require.Equal(t, string(code), body.Error.Code)
	require.NotEmpty(t, body.Error.Message)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	require.NotEmpty(t, a.Header.Get("X-Request-Id"))
}

// ok answers without reading the body.
func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "2")
	_, _ = io.WriteString(w, "ok")
}

// readAll answers with the size of the body, or with the fault of reading it.
func readAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Request-Id", "test")
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		_ = web.WriteError(w, fault.From(err))
		return
	}
	ok(w, r)
}
