package httpserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
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
			conn.send(c.request)
			a := conn.answer()
			a.fault(t, c.code)
			require.True(t, a.Close)
			conn.ended()
		})
	}
	// The same holds after an answered request.
	c := dial(t, s)
	c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Equal(t, "ok", string(c.answer().raw))
	c.send("GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n")
	c.answer().fault(t, fault.ExpectationFailed)
}
