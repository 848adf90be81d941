package socket_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
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

// reader is an agent's end of a stream, with a goroutine that reads it.
type reader struct {
	arrivals chan sent
	// leave closes the connection.
	leave context.CancelFunc
	t     testing.TB
}

// sent is a server-sent event, a comment, or the end of the stream.
type sent struct {
	id, kind, data string
	comment        bool
	err            error
}

// version returns the version of an order.changed event.
func (s sent) version(t testing.TB) int {
	t.Helper()
	var payload events.OrderPayload
	require.NoError(t, json.Unmarshal([]byte(s.data), &payload), "%+v", s)
	return payload.Version
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
	r := &reader{make(chan sent, 4096), leave, p.t}
	go r.read(response.Body)
	require.True(p.t, r.next().comment)
	return r
}

func (r *reader) read(body io.ReadCloser) {
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var now sent
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			now.id = string(value)
		case "event":
			now.kind = string(value)
		case "data":
			now.data = string(value)
		case ":":
			now.comment = true
		case "":
			r.arrivals <- now
			now = sent{}
		default:
			now.err = errors.New("a line that is no field: " + lines.Text())
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.EOF
	}
	r.arrivals <- sent{err: err}
}

// next waits for the next arrival.
func (r *reader) next() sent {
	r.t.Helper()
	return await(r.t, r.arrivals)
}

// event waits for the next event and skips comments.
func (r *reader) event() sent {
	r.t.Helper()
	for {
		if s := r.next(); !s.comment {
			require.NoError(r.t, s.err)
			require.NotEmpty(r.t, s.id)
			return s
		}
	}
}

// gets reads order.changed events of these versions, and returns their ids.
func (r *reader) gets(versions ...int) (ids []string) {
	r.t.Helper()
	for _, version := range versions {
		s := r.event()
		require.Equal(r.t, version, s.version(r.t))
		ids = append(ids, s.id)
	}
	return ids
}

// silent requires two comments before the next event.
func (r *reader) silent() {
	r.t.Helper()
	for range 2 { // the first comment may already be sent
		require.True(r.t, r.next().comment)
	}
}

// ended waits for the end of the stream.
func (r *reader) ended() {
	r.t.Helper()
	for {
		if s := r.next(); s.err != nil {
			require.ErrorIs(r.t, s.err, io.EOF)
			return
		}
	}
}
