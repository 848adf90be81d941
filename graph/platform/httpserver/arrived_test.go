package httpserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/httpserver"
)

// A body has arrived if all of it came in the same read as the end of its header, on a connection however often used.
func TestBodyArrived(t *testing.T) {
	t.Parallel()
	const post = "POST / HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		name string
		// first is sent at once, rest when the last handler has begun.
		first, rest string
		arrived     []bool
	}{
		{"together", post + "Content-Length: 10\r\n\r\n0123456789", "", []bool{true}},
		{"with an empty line in it", post + "Content-Length: 10\r\n\r\n012\r\n\r\n789", "", []bool{true}},
		{"in part", post + "Content-Length: 10\r\n\r\n01234", "56789", []bool{false}},
		{"later", post + "Content-Length: 10\r\n\r\n", "0123456789", []bool{false}},
		{"later, with an empty line in it", post + "Content-Length: 10\r\n\r\n", "01\r\n\r\n6789", []bool{false}},
		{"longer than a read", post + "Content-Length: 9000\r\n\r\n" + strings.Repeat("x", 9000), "", []bool{false}},
		{"of no announced length", post + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", "", []bool{false}},
		{"empty", post + "Content-Length: 0\r\n\r\n", "", []bool{false}},
		{"none", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", []bool{false}},
		{"behind lines that end otherwise", "POST / HTTP/1.1\nHost: x\nContent-Length: 10\n\n01\r\n\r\n6789", "", []bool{false}},
		{
			"with the next request", strings.Repeat(post+"Content-Length: 10\r\n\r\n0123456789", 2), "",
			[]bool{true, false},
		},
		{
			"behind a whole request, in part", post + "Content-Length: 10\r\n\r\n0123456789" + post + "Content-Length: 10\r\n\r\n01", "23456789",
			[]bool{true, false},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan bool)
			s := start(t, func(w http.ResponseWriter, r *http.Request) {
				arrived <- httpserver.BodyArrived(r)
				readAll(w, r)
			}, unbounded(), httpserver.Config{})
			client := dial(t, s)
			for range 3 {
				client.send(c.first)
				for i, want := range c.arrived {
					require.Equal(t, want, <-arrived)
					if i == len(c.arrived)-1 {
						client.send(c.rest)
					}
					require.Equal(t, http.StatusOK, client.answer().StatusCode)
				}
			}
		})
	}
}

// A request that did not come through this server has no body that arrived.
func TestBodyOfAnotherServer(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("body"))
	require.NoError(t, err)
	require.False(t, httpserver.BodyArrived(r))
}
