package socket_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
)

// reply is an answer over HTTP.
type reply struct {
	status int
	header http.Header
	raw    []byte
	err    error
}

// page is the answer to a poll.
type page struct {
	Events []struct {
		EventID   string         `json:"event_id"`
		Kind      string         `json:"kind"`
		Payload   map[string]any `json:"payload"`
		CreatedAt time.Time      `json:"created_at"`
	} `json:"events"`
	More bool `json:"more"`
}

func (g page) versions() (list []int) {
	for _, e := range g.Events {
		list = append(list, int(e.Payload["version"].(float64)))
	}
	return list
}

func (g page) ids() (list []string) {
	for _, e := range g.Events {
		list = append(list, e.EventID)
	}
	return list
}

// request makes a request under /api/v1 and reads its answer.
func (p *process) request(ctx context.Context, method, path, token, body string) reply {
	request, err := http.NewRequestWithContext(ctx, method, p.api+path, strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	request.Header = bearer(token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, raw, err}
}

// page requires the answer to be a page of events.
func (r reply) page(t testing.TB) (found page) {
	t.Helper()
	require.NoError(t, r.err)
	require.Equal(t, http.StatusOK, r.status, "%s", r.raw)
	require.NoError(t, json.Unmarshal(r.raw, &found))
	return found
}

// code requires the answer to be a fault and returns its code.
func (r reply) code(t testing.TB) string {
	t.Helper()
	require.NoError(t, r.err)
	var body web.ErrorBody
	require.NoError(t, json.Unmarshal(r.raw, &body), "%d %s", r.status, r.raw)
	return string(body.Error.Code)
}

// poll polls without a client timeout.
func (p *process) poll(token, query string) reply {
	p.t.Helper()
	return p.request(context.Background(), http.MethodGet, "/events?"+query, token, "")
}

// polling starts a poll that waits, and returns once the poll holds a slot.
func (p *process) polling(token string) <-chan reply {
	p.t.Helper()
	held, answered := p.figure("stoa_sockets_open"), make(chan reply, 1)
	go func() { answered <- p.poll(token, "wait=50") }()
	require.Eventually(p.t, func() bool { return p.figure("stoa_sockets_open") > held }, slack.TestWait, time.Millisecond)
	return answered
}

// acknowledge acknowledges events by a request.
func (p *process) acknowledge(token string, ids ...string) (acked, unknown []string) {
	p.t.Helper()
	body := graphtest.Got(json.Marshal(map[string]any{"event_ids": ids}))(p.t)
	r := p.request(context.Background(), http.MethodPost, "/events/acks", token, string(body))
	require.NoError(p.t, r.err)
	require.Equal(p.t, http.StatusOK, r.status, "%s", r.raw)
	var answer map[string][]string
	require.NoError(p.t, json.Unmarshal(r.raw, &answer))
	return answer["acked"], answer["unknown"]
}

// reader is an agent's end of a stream.
type reader struct {
	receiver

	leave context.CancelFunc // closes the connection
}

// stream opens a stream, after an event unless behind is empty, and reads its first comment.
func (p *process) stream(token, query, behind string) *reader {
	p.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	p.t.Cleanup(leave)
	request := graphtest.Got(http.NewRequestWithContext(ctx, http.MethodGet, p.api+"/events/stream"+query, http.NoBody))(p.t)
	request.Header = bearer(token)
	if behind != "" {
		request.Header.Set("Last-Event-ID", behind)
	}
	response, err := http.DefaultTransport.RoundTrip(request) //nolint:bodyclose // the reader closes it
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, response.StatusCode)
	require.Equal(p.t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Equal(p.t, "no", response.Header.Get("X-Accel-Buffering"))
	r := &reader{receiver{make(chan arrival, 4096), p.t}, leave}
	go r.read(response.Body)
	require.Equal(p.t, comment, r.arrive().pong)
	return r
}

func (r *reader) read(body io.ReadCloser) {
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var now arrival
	fields := make(map[string]string)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id", "event", "data":
			fields[name] = value
		case comment:
			now.pong = comment
		case "":
			if now.pong == "" {
				now.raw = fmt.Appendf(nil, `{"type":"event","event_id":%q,"kind":%q,"payload":%s}`, fields["id"], fields["event"], fields["data"])
			}
			r.arrivals <- now
			now = arrival{}
			clear(fields)
		default:
			now.err = errors.New("a line that is no field: " + lines.Text())
		}
	}
	r.arrivals <- arrival{err: cmp.Or(lines.Err(), io.EOF)}
}

// silent requires two comments before the next event.
func (r *reader) silent() {
	r.t.Helper()
	for range 2 { // the first comment may already be sent
		require.Equal(r.t, comment, r.arrive().pong)
	}
}

// ended waits for the end of the stream.
func (r *reader) ended() {
	r.t.Helper()
	a := r.arrive()
	for a.err == nil {
		a = r.arrive()
	}
	require.ErrorIs(r.t, a.err, io.EOF)
}
