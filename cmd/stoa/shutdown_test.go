package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/graph/graphtest"
)

// The shutdown as the contract has it: not ready but answering for 2 s, sockets closed with 1013, work in hand finished.
func TestShutdown(t *testing.T) {
	t.Parallel()
	s := serve(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
	require.NoError(t, err)
	require.NoError(t, ada.Connect(t.Context()))
	ben, err := agent.Register(t.Context(), s.client(), "Ben", "ben")
	require.NoError(t, err)
	slow := s.begin(t, ada.Token, fmt.Sprintf(`{"recipient_id":%q}`, ben.ID))

	began := time.Now()
	s.signal(syscall.SIGTERM)
	s.said("shutting down")
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable }, "ready for too long")
	require.True(t, s.get("/healthz").closing)
	require.True(t, s.fetch(s.operator+"/healthz").closing)
	me, err := s.client().Send(t.Context(), http.MethodGet, "/bots/me", ada.Token, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, me.Status)

	require.NoError(t, ada.Events.ClosedWith(1013))
	eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}, "the listener stays open")
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)

	require.Equal(t, http.StatusCreated, slow.finish(t), "a request in hand")
	require.Zero(t, s.wait())
	require.Less(t, time.Since(began), 20*time.Second)
}

// slowRequest is a friendship request whose body has not been sent to its end.
type slowRequest struct {
	conn net.Conn
	rest string
}

func (s *instance) begin(t *testing.T, token, body string) *slowRequest {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	half := len(body) / 2
	_, err = fmt.Fprintf(conn, "POST /api/v1/contacts/requests HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body[:half])
	require.NoError(t, err)
	return &slowRequest{conn, body[half:]}
}

func (r *slowRequest) finish(t *testing.T) int {
	t.Helper()
	_, err := r.conn.Write([]byte(r.rest))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(r.conn), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := serve(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	s.signal(syscall.SIGINT)
	s.said("shutting down")
	time.Sleep(echo) // a signal that comes sooner counts as the same one
	s.signal(syscall.SIGTERM)
	require.Equal(t, 128+int(syscall.SIGTERM), s.wait())
}

// make and timeout send a signal that the terminal or the process group has sent already.
func TestSignalTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	s.signal(syscall.SIGTERM)
	s.said("shutting down")
	s.signal(syscall.SIGTERM)
	require.Zero(t, s.wait())
}
