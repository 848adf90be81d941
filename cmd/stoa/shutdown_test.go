package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// During a shutdown the server is not ready but answers for 2 s, closes sockets with 1013, answers polls, ends streams and
// finishes running requests (§11).
func TestShutdown(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	ada, ben := s.join("Agent", "agent"), s.join("Agent", "agent")
	require.NoError(t, ada.connect(t.Context()))
	body := fmt.Sprintf(`{"recipient_id":%q}`, ben.ID)
	request := fmt.Sprintf("POST /api/v1/contacts/requests HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", ada.Token(), len(body), body)
	inHand := dialOrigin(t, s.url)
	graphtest.OK(t)(io.WriteString(inHand, request[:len(request)-10]))

	poll, stream := dialOrigin(t, s.url), dialOrigin(t, s.url)
	for path, conn := range map[string]net.Conn{"?wait=50": poll, "/stream": stream} {
		_, err := fmt.Fprintf(conn, "GET /api/v1/events%s HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\n\r\n", path, ben.Token())
		require.NoError(t, err)
	}
	eventually(t, func() bool { return s.hasMetric("stoa_sockets_open 3") }, "a socket, a poll and a stream")

	began := time.Now()
	s.signal(syscall.SIGTERM)
	s.waitForLog("shutting down")
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable }, "still ready")
	require.True(t, s.get("/healthz").closing)
	require.True(t, s.fetch(s.operator+"/healthz").closing)
	require.NoError(t, ada.Do(t.Context(), http.MethodGet, "/bots/me", nil, nil))

	ada.Events.closedWith(t, 1013)
	require.GreaterOrEqual(t, time.Since(began), drainDelay)
	polled, streamed := exchangeRaw(t, poll, ""), exchangeRaw(t, stream, "")
	require.JSONEq(t, `{"events":[],"more":false}`, string(polled.raw))
	require.Empty(t, strings.ReplaceAll(string(streamed.raw), ":\n\n", ""), "comments alone")
	answer := exchangeRaw(t, inHand, request[len(request)-10:])
	require.NotNil(t, answer, "a request in hand")
	require.Equal(t, http.StatusCreated, answer.status)
	require.Zero(t, s.waitExit())
	require.ErrorIs(t, graphtest.Err(net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))), syscall.ECONNREFUSED)
	require.NotContains(t, s.log.String(), "cut off")
}

func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	s.signal(syscall.SIGINT)
	s.waitForLog("shutting down")
	eventually(t, func() bool { // a signal within duplicateSignal of the first counts as the same one
		return s.cmd.Process.Signal(syscall.SIGTERM) != nil
	}, "the server goes on")
	require.Equal(t, 128+int(syscall.SIGTERM), s.waitExit())
}

// A process without work exits even if connections are open. make and timeout repeat a signal of the terminal or the process
// group: immediately after the first it counts as the same.
func TestShutdownOfIdleProcess(t *testing.T) {
	t.Parallel()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	idle := dialOrigin(t, s.url)
	require.NotNil(t, exchangeRaw(t, idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
	s.signal(syscall.SIGTERM)
	s.signal(syscall.SIGINT) // a second SIGTERM might be merged with the first
	silent := []net.Conn{dialOrigin(t, s.url), dialOrigin(t, s.operator)}
	require.Zero(t, s.waitExit())
	require.NotContains(t, s.log.String(), "cut off")
	for _, conn := range silent {
		require.Nil(t, exchangeRaw(t, conn, ""))
	}
}

// A server (every night, six in turn) is shut down while uploads are sent, wait and are inspected, and other requests come. Until
// it logs the shutdown nothing is delayed, and every request is answered.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	servers := 6
	if testing.Short() {
		servers = 1
	}
	for i := range servers {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, append([]string{"STOA_DATABASE_URL=" + graphtest.NewDatabase(t), "STOA_LIMIT_INSPECTIONS=1",
				"STOA_LIMIT_STORAGE_BYTES_PER_AGENT=0", "STOA_LIMIT_FILES_PER_AGENT=0"}, noLimits...)...)
			ada := s.join("Agent", "agent")
			l := new(loadGenerator)
			picture := blankJPEG(800, 600)
			for range 6 {
				l.start(func() *http.Request {
					body, contentType := uploadForm("order", picture)
					return s.request(http.MethodPost, s.url+"/api/v1/attachments", ada.Token(), contentType, body)
				})
			}
			for path, request := range map[string][2]string{
				"/api/v1/events?wait=10": {http.MethodGet, ""}, "/api/v1/wallet": {http.MethodGet, ""},
				"/api/v1/bots/me": {http.MethodPatch, `{"bio":"busy"}`},
			} {
				l.start(func() *http.Request {
					return s.request(request[0], s.url+path, ada.Token(), "application/json", []byte(request[1]))
				})
			}
			stalled := dialOrigin(t, s.url)
			graphtest.OK(t)(fmt.Fprintf(stalled, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 20000000\r\n\r\n--b\r\n", ada.Token()))
			eventually(t, func() bool { return l.sent.Load() >= 20 }, "too few requests")

			s.signal(syscall.SIGTERM)
			s.waitForLog("shutting down")
			eventually(t, s.isShuttingDown, "still ready")
			l.stop.Store(true)
			l.clients.Wait()
			require.Empty(t, l.unanswered, "of %d requests", l.sent.Load())
			answer := exchangeRaw(t, stalled, "")
			require.NotNil(t, answer, "an upload whose form never came got no answer")
			allowed := []int{http.StatusServiceUnavailable, http.StatusRequestTimeout, http.StatusTooManyRequests} // the last: no place
			require.Contains(t, allowed, answer.status)
			require.Zero(t, s.waitExit())
			require.NotContains(t, s.log.String(), "cut off")
		})
	}
}

// loadGenerator sends requests from several clients, each request on a new connection.
type loadGenerator struct {
	clients sync.WaitGroup
	sent    atomic.Int64
	stop    atomic.Bool

	mu sync.Mutex
	// unanswered are the errors of requests that were sent and got no answer.
	unanswered []error
}

func (l *loadGenerator) start(newRequest func() *http.Request) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: slack.TestWait}
	l.clients.Go(func() {
		pace := time.NewTicker(10 * time.Millisecond) // leaves processor time to the server
		defer pace.Stop()
		for ; !l.stop.Load(); <-pace.C {
			response, err := client.Do(newRequest())
			l.sent.Add(1)
			if err == nil {
				err = response.Body.Close()
			}
			if errors.Is(err, syscall.ECONNREFUSED) {
				return // the server has stopped listening, so nothing was sent
			}
			if err != nil {
				l.mu.Lock()
				l.unanswered = append(l.unanswered, err)
				l.mu.Unlock()
			}
		}
	})
}

// Both listeners limit the connections of an address.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	const limit = 8
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), fmt.Sprintf("STOA_LIMIT_CONNECTIONS_PER_ADDRESS=%d", limit))
	for _, origin := range []string{s.url, s.operator} {
		var refused *httpAnswer
		eventually(t, func() bool { // earlier connections may still count
			var open []net.Conn
			refused = nil
			for refused == nil || refused.status == http.StatusOK {
				open = append(open, dialOrigin(t, origin))
				refused = exchangeRaw(t, open[len(open)-1], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			for _, conn := range open {
				_ = conn.Close()
			}
			return len(open) == limit+1
		}, "another number of connections is let in")
		require.Equal(t, http.StatusTooManyRequests, refused.status)
	}
	counted := regexp.MustCompile(`stoa_limit_refusals_total\{limit="connections_per_address"\} [1-9]`)
	eventually(t, func() bool {
		answer := exchangeRaw(t, dialOrigin(t, s.operator), "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		return answer != nil && counted.Match(answer.raw)
	}, "the refusals are not counted")
}
