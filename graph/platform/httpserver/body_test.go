package httpserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

// A body that is not read and does not arrive delays neither the answer nor the end of the connection.
func TestBodyThatNeverComesAndIsNotRead(t *testing.T) {
	t.Parallel()
	s := start(t, ok, unbounded(), httpserver.Config{})
	for name, request := range map[string]string{
		"GET with a length":      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"HEAD with a length":     "HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"chunked GET":            "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"chunked, one chunk":     "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
		"POST, half of its body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
		"POST, large":            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n12345",
		"100-continue":           "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
		"malformed chunk":        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			c.send(request)
			response, err := http.ReadResponse(c.in, &http.Request{Method: strings.Fields(request)[0]})
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.True(t, response.Close)
			c.ended()
		})
	}
}

// An unread body does not delay anything if the handler writes nothing or panics, either.
func TestBodyThatNeverComesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"panic":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, start(t, handler, unbounded(), httpserver.Config{}))
			c.send("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
			if name != "panic" {
				require.True(t, c.answer().Close)
			}
			c.ended()
		})
	}
}

// A small body that was sent completely keeps the connection open, read or not.
func TestSmallBodyKeepsTheConnection(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Drain = slack.TestWait // on a busy machine it may come late
	for name, handler := range map[string]http.HandlerFunc{"unread": ok, "read": readAll} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, start(t, handler, timeouts, httpserver.Config{}))
			for _, request := range []string{
				"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
				"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
				"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
				"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("x", 60000),
				"DELETE / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
			} {
				a := c.ask(request)
				require.Equal(t, http.StatusOK, a.StatusCode)
				require.False(t, a.Close, "%.80q", request)
			}
		})
	}
}

// A client that reads only after it has sent everything gets the answer, even if the body was refused at its beginning.
func TestEarlyAnswerReachesASenderOfMuch(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, ok, unbounded(), httpserver.Config{}))
	const size = 16 << 20
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n")
	require.Equal(t, http.StatusOK, c.ask(strings.Repeat("x", size)).StatusCode)
}

// A body below the minimum rate, even if some bytes arrive, ends with request_timeout.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Body = httpserver.Pace{Time: 100 * time.Millisecond, Bytes: 1 << 20}
	s := start(t, readAll, timeouts, httpserver.Config{})
	for name, header := range map[string]string{"length": "Content-Length: 1000000", "chunked": "Transfer-Encoding: chunked"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			c.send("POST / HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n")
			go func() {
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					if _, err := c.Write([]byte("1\r\n1\r\n")); err != nil {
						return
					}
				}
			}()
			a := c.answer()
			a.fault(t, fault.RequestTimeout)
			require.True(t, a.Close)
		})
	}
}

func TestMalformedBody(t *testing.T) {
	t.Parallel()
	s := start(t, readAll, unbounded(), httpserver.Config{})
	for name, sent := range map[string]string{
		"no size":        "zz\r\n",
		"too long":       "ffffffffffffffffff\r\n",
		"no end of line": "2\r\n{}xx",
		"bad trailer":    "0\r\n:\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			a := c.ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + sent)
			a.fault(t, fault.InvalidInput)
			require.True(t, a.Close)
		})
	}
	c := dial(t, s)
	c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
	require.NoError(t, c.CloseWrite())
	c.answer().fault(t, fault.InvalidInput)
}

func TestContinue(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, readAll, unbounded(), httpserver.Config{}))
	for range 2 {
		c.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		require.Equal(t, http.StatusContinue, c.answer().StatusCode)
		require.Equal(t, http.StatusOK, c.ask("{}").StatusCode)
	}
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// served reports whether a new connection is accepted.
func served(t *testing.T, s *httpserver.Server) bool {
	t.Helper()
	c := dial(t, s)
	defer c.Close()
	_, _ = io.WriteString(c, request) // it may be closed already
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config httpserver.Config
		code   fault.Code
	}{
		"per address": {httpserver.Config{ConnectionsPerAddress: 3}, fault.RateLimited},
		"altogether":  {httpserver.Config{Connections: 3}, fault.ServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, ok, unbounded(), c.config)
			var open []*client
			for range 3 {
				one := dial(t, s)
				require.Equal(t, http.StatusOK, one.ask(request).StatusCode)
				open = append(open, one)
			}
			silent := dial(t, s)
			a := silent.answer()
			a.fault(t, c.code)
			require.True(t, a.Close)
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			silent.ended()

			open[0].send(request)
			require.Equal(t, http.StatusOK, open[0].answer().StatusCode, "open connections stay open")
			require.NoError(t, open[0].Close())
			require.Eventually(t, func() bool { return served(t, s) }, slack.TestWait, 10*time.Millisecond, "the place is not given back")
		})
	}
}

func TestTrustedProxiesHaveNoLimitPerAddress(t *testing.T) {
	t.Parallel()
	s := start(t, ok, unbounded(), httpserver.Config{ConnectionsPerAddress: 1, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for range 5 {
		require.Equal(t, http.StatusOK, dial(t, s).ask(request).StatusCode)
	}
}

// A connection that was taken over is the handler's alone, and counts until it is closed.
func TestHijackedConnection(t *testing.T) {
	t.Parallel()
	taken := make(chan io.Closer, 1)
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			ok(w, r)
			return
		}
		if conn, buffered, err := http.NewResponseController(w).Hijack(); err == nil {
			taken <- conn
			go func() { _, _ = io.Copy(conn, buffered) }()
		}
	}, unbounded(), httpserver.Config{ConnectionsPerAddress: 1})
	c := dial(t, s)
	const spoken = "HTTP/1.1 400 Bad Request\r\n"
	c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n" + spoken)
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, spoken, line)
	conn := <-taken
	require.False(t, served(t, s))
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return served(t, s) }, slack.TestWait, 10*time.Millisecond, "the place is not given back")
}

// stopping begins a shutdown and waits until the server accepts no more connections.
func stopping(t *testing.T, s *httpserver.Server) <-chan error {
	t.Helper()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", s.Address())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, slack.TestWait, 5*time.Millisecond, "the listener stays open")
	return stopped
}

// A connection that is open when the shutdown begins still gets the answer to its first request.
func TestShutdownAnswersNewConnections(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Fresh = slack.TestWait
	s := start(t, ok, timeouts, httpserver.Config{})
	fresh, later := dial(t, s), dial(t, s)
	require.Equal(t, http.StatusOK, later.ask(request).StatusCode) // they are accepted in order
	stopped := stopping(t, s)
	require.Equal(t, http.StatusOK, fresh.ask(request).StatusCode)
	require.NoError(t, <-stopped)
}

// A connection that never sends anything does not delay the shutdown: it has ended before net/http waits 5 s for it.
func TestShutdownOfAnIdleServer(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Fresh = 50 * time.Millisecond
	s := start(t, ok, timeouts, httpserver.Config{})
	silent, idle := dial(t, s), dial(t, s)
	require.Equal(t, http.StatusOK, idle.ask(request).StatusCode)
	s.AwaitFresh(t.Context())
	silent.ended()
	require.NoError(t, s.Shutdown(t.Context()))
	idle.ended()
}

// A request whose body does not arrive during the shutdown is answered. A request whose body has arrived finishes.
func TestShutdownSoon(t *testing.T) {
	t.Parallel()
	working, finish := make(chan struct{}), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		readAll(w, r)
		if r.URL.Path == "/work" {
			close(working)
			select {
			case <-r.Context().Done():
				panic(http.ErrAbortHandler)
			case <-finish:
			}
		}
	}, unbounded(), httpserver.Config{})
	slow, later, work := dial(t, s), dial(t, s), dial(t, s)
	work.send("POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	<-working
	slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
	later.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	require.Equal(t, http.StatusContinue, later.answer().StatusCode) // its body is waited for
	stopped := stopping(t, s)
	s.ShutdownSoon()
	for _, c := range []*client{slow, later} {
		a := c.answer()
		a.fault(t, fault.ServiceUnavailable)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	close(finish)
	require.Equal(t, http.StatusOK, work.answer().StatusCode)
	require.NoError(t, <-stopped)
}
