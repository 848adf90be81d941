package httpserver_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
)

// Refusals by net/http itself also have the error body.
func TestRefusalsOfTheServerItself(t *testing.T) {
	t.Parallel()
	s := start(t, ok, unbounded(), httpserver.Config{})
	large := func(size int) string {
		return "GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("x", size) + "\r\n\r\n"
	}
	for name, c := range map[string]struct {
		request string
		code    fault.Code
	}{
		"unknown expectation":     {"GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n", fault.ExpectationFailed},
		"expectation with a body": {"POST / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nContent-Length: 2\r\n\r\n{}", fault.ExpectationFailed},
		"large header":            {large(70 << 10), fault.HeaderFieldsTooLarge},
		"larger header":           {large(300 << 10), fault.HeaderFieldsTooLarge},
		"largest header":          {large(3 << 20), fault.HeaderFieldsTooLarge},
		"no host":                 {"GET / HTTP/1.1\r\n\r\n", fault.InvalidInput},
		"no HTTP":                 {"HELLO\r\n\r\n", fault.InvalidInput},
		"two lengths":             {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", fault.InvalidInput},
		"unknown transfer coding": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", fault.InvalidInput},
		"unknown version":         {"GET / HTTP/3.7\r\nHost: x\r\n\r\n", fault.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, s)
			a := conn.ask(c.request)
			a.fault(t, c.code)
			require.True(t, a.Close)
			conn.ended()
		})
	}
	// The same holds after an answered request.
	c := dial(t, s)
	require.Equal(t, "ok", string(c.ask(request).raw))
	c.send("GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n")
	c.answer().fault(t, fault.ExpectationFailed)
}

// A client that reads its answer below the minimum rate is cut off.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Answer = httpserver.Pace{Time: 100 * time.Millisecond, Bytes: 1 << 20}
	failed := make(chan error, 1)
	s := start(t, func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 64<<10)
		for {
			if _, err := w.Write(piece); err != nil {
				failed <- err
				return
			}
		}
	}, timeouts, httpserver.Config{})
	c := dial(t, s)
	require.NoError(t, c.SetReadBuffer(4<<10))
	c.send(request)
	select {
	case err := <-failed:
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	case <-time.After(slack.TestWait):
		require.FailNow(t, "the answer is still being written")
	}
}

// A handler may pause between writes for longer than a write may take, because only the client's delay counts.
func TestSlowHandler(t *testing.T) {
	t.Parallel()
	timeouts := unbounded()
	timeouts.Answer = httpserver.Pace{Time: slack.Of(100 * time.Millisecond), Bytes: 64 << 10}
	s := start(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			<-time.After(2 * timeouts.Answer.Time)
			_, _ = io.WriteString(w, "event\n")
			_ = http.NewResponseController(w).Flush()
		}
	}, timeouts, httpserver.Config{})
	require.Equal(t, "event\nevent\nevent\n", string(dial(t, s).ask(request).raw))
}

func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	s := start(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) }, unbounded(), httpserver.Config{})
	require.True(t, bytes.Equal(large, dial(t, s).ask(request).raw))
}
