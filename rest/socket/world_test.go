package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/rest"
	"stoa/rest/resttest"
	"stoa/rest/socket"
)

// sendBuffer is the size in bytes of a connection's send buffer, small, so that clients that do not read are soon detected.
const sendBuffer = 4096

func TestMain(m *testing.M) {
	code := resttest.Main(m, resttest.Public)
	shared.Close()
	os.Exit(code)
}

// cluster is a database and the processes that serve it.
type cluster struct {
	*graphtest.World
	// outbox is the database of the processes' events, if it is another one.
	outbox *db.DB
	t      testing.TB
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{World: graphtest.New(t), t: t}
}

// shared is the world of tests that tolerate other tests' agents and processes.
var shared graphtest.Shared

func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{World: shared.World(t), t: t}
}

// unacknowledged counts the events of agents that are not acknowledged.
func (h *cluster) unacknowledged(agents ...*graphtest.Agent) int64 {
	h.t.Helper()
	ids := make([]uuid.UUID, len(agents))
	for i, agent := range agents {
		ids[i] = agent.ID
	}
	return h.Count("SELECT count(*) FROM events WHERE recipient_id = ANY ($1)", db.IDs(ids))
}

// friends returns two friends without events.
func (h *cluster) friends() (one, other *graphtest.Agent) {
	h.t.Helper()
	one, other = h.Friends()
	h.Exec("DELETE FROM events WHERE recipient_id IN ($1, $2)", one.ID, other.ID)
	return one, other
}

// process stands for a server process: a graph, a hub and its own public listener over the cluster's database.
type process struct {
	*graph.Graph
	hub *socket.Hub
	// url is the URL of the sockets, api the URL of all other requests.
	url, api string
	handler  http.Handler
	// kill ends the process abruptly: it closes and frees nothing.
	kill func()
	t    testing.TB
}

// process starts a process. Acts of the world happen on the first process.
func (h *cluster) process(settings ...func(*socket.Config)) *process {
	h.t.Helper()
	logger := slog.New(slog.DiscardHandler)
	config := socket.Config{URL: h.URL, Logger: logger}
	for _, set := range settings {
		set(&config)
	}
	hub := socket.New(config)
	g := graph.New(graph.Config{DB: h.DB, TokenTTL: 720 * time.Hour, Sockets: hub})
	if hub.Graph = g; h.outbox != nil {
		g.Events.DB = h.outbox
	}
	hub.SetReleaseTimeout(slack.TestWait) // otherwise, with a busy database, a connection may end before its slot is free
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx) }()
	handler := rest.New(rest.Config{Graph: g, Draining: new(atomic.Bool), Logger: logger, Socket: hub, Events: hub})
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = conn.(*net.TCPConn).SetWriteBuffer(sendBuffer)
		}
	}
	server.Start()
	p := &process{
		Graph: g, hub: hub, url: "ws" + strings.TrimPrefix(server.URL, "http") + rest.SocketPath, api: server.URL + "/api/v1", handler: handler, t: h.t,
	}
	var killed atomic.Bool
	p.kill = func() {
		if killed.CompareAndSwap(false, true) {
			cancel()
			require.NoError(h.t, <-done)
			server.Close()
		}
	}
	h.t.Cleanup(p.kill)
	p.linked()
	return p
}

// withProcess returns the cluster and a process.
func (h *cluster) withProcess(settings ...func(*socket.Config)) (*cluster, *process) {
	h.t.Helper()
	return h, h.process(settings...)
}

// withTwo returns the cluster and two processes with the same settings.
func (h *cluster) withTwo(settings ...func(*socket.Config)) (_ *cluster, here, there *process) {
	h.t.Helper()
	return h, h.process(settings...), h.process(settings...)
}

// withAgent returns the cluster, a process and an agent.
func (h *cluster) withAgent(settings ...func(*socket.Config)) (*cluster, *process, *graphtest.Agent) {
	h.t.Helper()
	return h, h.process(settings...), h.Agent()
}

// figure returns a figure of the process, and closed the number of connections that were closed with a code.
func (p *process) figure(name string, labels ...string) int64 {
	for _, found := range p.hub.Figures() {
		if found.Name == name && slices.Equal(found.Labels, labels) {
			return int64(found.Value)
		}
	}
	p.t.Fatalf("there is no figure %s %v", name, labels)
	return 0
}

func (p *process) closed(code int) int64 {
	return p.figure("stoa_sockets_closed_total", strconv.Itoa(code))
}

// isLinked reports whether the process is connected to the others.
func (p *process) isLinked() bool { return p.figure("stoa_sockets_linked") == 1 }

// linked waits until the process accepts connections.
func (p *process) linked() {
	p.t.Helper()
	require.Eventually(p.t, p.isLinked, slack.TestWait, time.Millisecond)
}

// withoutPings is for tests that write to the underlying connection: the library's answer to a ping leaves a deadline there.
func withoutPings(c *socket.Config) { c.PingInterval = time.Hour }

func quotas(perAgent, total int) func(*socket.Config) {
	return func(c *socket.Config) { c.Quotas = limits.Quotas{SocketsPerAgent: perAgent, Sockets: total} }
}

// receiver is an agent's end of a socket or a stream, with a goroutine that reads it.
type receiver struct {
	arrivals chan arrival
	t        testing.TB
}

// client is the agent's end of a socket.
type client struct {
	*websocket.Conn
	receiver

	pings chan struct{}
}

// arrival is a frame or a pong of the server, or the end. An event of a stream arrives as the frame that a socket gets.
type arrival struct {
	raw  []byte
	pong string // or comment
	err  error
}

// comment is the pong of a stream.
const comment = ":"

// frame is a message of the server.
type frame struct {
	Type    string         `json:"type"`
	EventID string         `json:"event_id"`
	Kind    string         `json:"kind"`
	Payload map[string]any `json:"payload"`
}

func bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// dial opens a connection with a token.
func (p *process) dial(token string, subprotocols ...string) *client {
	p.t.Helper()
	return p.dialWith(bearer(token), "", subprotocols...)
}

// connect opens a connection that the server serves.
func (p *process) connect(token string) *client {
	p.t.Helper()
	conn := p.dial(token)
	conn.quiet()
	return conn
}

func (p *process) dialWith(header http.Header, query string, subprotocols ...string) *client {
	p.t.Helper()
	dialer := websocket.Dialer{Subprotocols: subprotocols, HandshakeTimeout: slack.TestWait}
	conn, response, err := dialer.Dial(p.url+query, header)
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	require.NoError(p.t, resttest.Handshake(response))
	p.t.Cleanup(func() { _ = conn.Close() })
	c := &client{conn, receiver{make(chan arrival, 4096), p.t}, make(chan struct{}, 1)}
	answer := conn.PingHandler()
	conn.SetPingHandler(func(text string) error {
		select {
		case c.pings <- struct{}{}:
		default:
		}
		return answer(text)
	})
	conn.SetPongHandler(func(text string) error { c.arrivals <- arrival{pong: text}; return nil })
	go c.read()
	return c
}

func (c *client) read() {
	for {
		kind, raw, err := c.ReadMessage()
		if err == nil && kind != websocket.TextMessage {
			err = errors.New("not a text frame")
		}
		c.arrivals <- arrival{raw: raw, err: err}
		if err != nil {
			return
		}
	}
}

// await waits for a value.
func await[T any](t testing.TB, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(slack.TestWait):
		require.Fail(t, "nothing came")
	}
	return value
}

// arrive waits for the next arrival.
func (r *receiver) arrive() arrival {
	r.t.Helper()
	return await(r.t, r.arrivals)
}

// next reads one frame, after the comments of a stream.
func (r *receiver) next() (f frame) {
	r.t.Helper()
	a := r.arrive()
	for a.pong == comment {
		a = r.arrive()
	}
	require.NoError(r.t, a.err)
	require.Empty(r.t, a.pong)
	require.NoError(r.t, resttest.Frame(a.raw))
	require.NoError(r.t, json.Unmarshal(a.raw, &f), "%s", a.raw)
	return f
}

// event reads one frame, which must be an event.
func (r *receiver) event(kind events.Kind) frame {
	r.t.Helper()
	f := r.next()
	require.Equal(r.t, "event", f.Type)
	require.Equal(r.t, string(kind), f.Kind)
	return f
}

// gets reads order.changed events of these versions, and returns their ids.
func (r *receiver) gets(versions ...int) (ids []string) {
	r.t.Helper()
	for _, version := range versions {
		f := r.event(events.OrderChanged)
		require.Equal(r.t, version, f.version())
		ids = append(ids, f.EventID)
	}
	return ids
}

func (c *client) send(text string) {
	c.t.Helper()
	require.NoError(c.t, c.WriteMessage(websocket.TextMessage, []byte(text)))
}

func (c *client) ack(id string) {
	c.t.Helper()
	c.send(`{"type":"ack","event_id":"` + id + `"}`)
}

// acked acknowledges an event and reads the answer, skipping events.
func (c *client) acked(id string) {
	c.t.Helper()
	c.ack(id)
	c.answer(id)
}

func (c *client) answer(id string) {
	c.t.Helper()
	for {
		f := c.next()
		if f.Type == "acked" {
			require.Equal(c.t, frame{Type: "acked", EventID: id}, f)
			return
		}
	}
}

// quiet requires that the server sends nothing before it answers a ping.
func (c *client) quiet() {
	c.t.Helper()
	text := uuid.NewString()
	require.NoError(c.t, c.WriteControl(websocket.PingMessage, []byte(text), time.Now().Add(slack.TestWait)))
	a := c.arrive()
	require.NoError(c.t, a.err)
	require.Equal(c.t, text, a.pong, "%s", a.raw)
}

// code reads until the server closes and returns the close code.
func (c *client) code() int {
	c.t.Helper()
	return c.closed().Code
}

// closed waits for the close frame.
func (c *client) closed() (closed *websocket.CloseError) {
	c.t.Helper()
	a := c.arrive()
	for a.err == nil {
		a = c.arrive()
	}
	require.ErrorAs(c.t, a.err, &closed)
	return closed
}

// hangUp closes the connection from the client's side and waits for the answer.
func (c *client) hangUp() {
	c.t.Helper()
	require.NoError(c.t, c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(slack.TestWait)))
	require.Equal(c.t, websocket.CloseNormalClosure, c.code())
	require.NoError(c.t, c.Close())
}

// tell writes an order.changed event of the given version to an agent, on this process.
func (p *process) tell(to *graphtest.Agent, versions ...int) {
	p.t.Helper()
	list := make([]events.Event, len(versions))
	for i, version := range versions {
		list[i] = orderChanged(to, version)
	}
	p.tellEvents(list...)
}

func orderChanged(to *graphtest.Agent, version int) events.Event {
	payload := events.OrderPayload{OrderID: to.ID, Status: "funded", Version: version}
	return events.Event{Recipient: to.ID, Kind: events.OrderChanged, Payload: payload}
}

// many returns the versions from 1 to n.
func many(n int) []int { return after(0, n) }

// after returns n versions after one.
func after(version, n int) []int {
	versions := make([]int, n)
	for i := range versions {
		versions[i] = version + i + 1
	}
	return versions
}

func (p *process) tellEvents(list ...events.Event) {
	p.t.Helper()
	patient := db.Patient(context.Background()) // on a busy machine megabytes take longer than a request may
	require.NoError(p.t, p.Events.DB.Tx(patient, func(ctx context.Context, tx *db.Tx) error {
		return p.Events.Add(ctx, tx, list...)
	}))
}

// version of an order.changed event.
func (f frame) version() int { return int(f.Payload["version"].(float64)) }
