package workload

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// connectionLife is the mean time after which an agent leaves its socket.
	connectionLife = 12 * time.Second
	// drainTimeout is how long an agent waits for events that still wait for it.
	drainTimeout = 60 * time.Second
	// drainSilence is how long nothing comes once all events are there.
	drainSilence = 3 * time.Second
)

// connection is one event socket.
type connection struct {
	*websocket.Conn

	agent       *Agent
	number      int
	connectedAt time.Duration
	// process is the server, as the load balancer names it.
	process string
	// version is that of the events.
	version int
}

type frame struct {
	Type    string          `json:"type"`
	EventID string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// connect opens a socket with all kinds of events, through any server.
func (a *Agent) connect(ctx context.Context) (*connection, error) {
	return a.dial(ctx, "", latestEvents)
}

// connectTo opens a socket with all kinds of events through a server; any serves if it is empty.
func (a *Agent) connectTo(ctx context.Context, server string) (*connection, error) {
	return a.dial(ctx, server, latestEvents)
}

// connectFor opens a socket for a version of the events.
func (a *Agent) connectFor(ctx context.Context, version int) (*connection, error) {
	return a.dial(ctx, "", version)
}

func (a *Agent) dial(ctx context.Context, server string, version int) (*connection, error) {
	dialer := websocket.Dialer{Subprotocols: subprotocols[version], HandshakeTimeout: requestTimeout, NetDialContext: (&net.Dialer{
		Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(a.address)},
	}).DialContext}
	header := http.Header{"Authorization": {"Bearer " + a.token}}
	if server != "" {
		header.Set(testbed.ChosenHeader, server)
	}
	conn, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(a.w.url, "http")+"/ws/v1/events/", header)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close() // an upgrade has none
	return &connection{Conn: conn, agent: a, number: a.w.connections.next(), connectedAt: a.w.Recorder.Now(), version: version,
		process: response.Header.Get(testbed.ServerHeader)}, nil
}

// next waits for a frame and records it.
func (c *connection) next(until time.Time) (frame, error) {
	var got frame
	if err := c.SetReadDeadline(until); err != nil {
		return got, err
	}
	if err := c.ReadJSON(&got); err != nil {
		return got, err
	}
	at := c.agent.w.Recorder.Now()
	c.agent.w.Recorder.Record(func(h *history.History) {
		switch got.Type {
		case "event":
			h.Deliveries = append(h.Deliveries, history.Delivery{
				Agent: c.agent.Handle, Connection: c.number, ConnectedAt: c.connectedAt, At: at, Process: c.process,
				Asked: c.version, EventID: got.EventID, Kind: got.Kind, Payload: got.Payload,
			})
		case "acked":
			h.Acks = append(h.Acks, history.Ack{Agent: c.agent.Handle, Connection: c.number, EventID: got.EventID, Answered: at})
		}
	})
	return got, nil
}

// ended records how long the socket was open.
func (c *connection) ended() {
	w := c.agent.w
	w.Recorder.Record(func(h *history.History) {
		h.Attempts = append(h.Attempts, history.Attempt{Agent: c.agent.Handle, Operation: history.EventSocket, Of: strconv.Itoa(c.number),
			Start: c.connectedAt, End: w.Recorder.Now(), Status: http.StatusOK})
	})
}

func (c *connection) ack(event string) error {
	return c.WriteJSON(map[string]string{"type": "ack", "event_id": event})
}

// listen keeps a socket open until ctx ends, leaves it now and then, half of the time to poll or to read a stream for a while, and acknowledges what
// comes at once, late, twice or never.
func (a *Agent) listen(ctx context.Context) {
	for wait := 100 * time.Millisecond; ; {
		switch a.chance.IntN(6) {
		case 0, 1:
			a.poll(ctx)
		case 2:
			a.stream(ctx)
		}
		c, err := a.connectFor(ctx, a.version())
		if err == nil {
			wait = 100 * time.Millisecond
			a.listenOn(ctx, c)
			_ = c.Close()
			c.ended()
		}
		if !a.pause(ctx, wait) {
			return
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// listenOn reads a socket for its life. It reads and writes in one goroutine: what is to be acknowledged later is so when the next
// frame or the end of a wait has come.
func (a *Agent) listenOn(ctx context.Context, c *connection) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	end := time.Now().Add(time.Duration(a.chance.ExpFloat64() * float64(connectionLife)))
	var late []string
	for time.Now().Before(end) {
		got, err := c.next(end)
		if err != nil {
			return
		}
		if got.Type != "event" {
			continue
		}
		acks := 1
		switch a.chance.IntN(10) {
		case 0:
			acks = 2
		case 1, 2:
			late = append(late, got.EventID)
			acks = 0
		case 3:
			acks = 0 // on this connection; the next one gets the event again
		}
		for range acks {
			if c.ack(got.EventID) != nil {
				return
			}
		}
		if len(late) > 4 {
			for _, event := range late {
				if c.ack(event) != nil {
					return
				}
			}
			late = nil
		}
	}
}

// settleEvents ends what is under way with the owner, and drains.
func (a *Agent) settleEvents(ctx context.Context) error {
	a.settleOwner(ctx)
	return a.drain(ctx)
}

// drain receives and acknowledges everything that waits for the agent.
func (a *Agent) drain(ctx context.Context) error {
	deadline := time.Now().Add(drainTimeout)
	for {
		err := a.drainOnce(ctx, deadline)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		if !a.pause(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

func (a *Agent) drainOnce(ctx context.Context, deadline time.Time) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // all events are there by then
	waiting := 0
	for {
		until := time.Now().Add(drainSilence)
		if waiting > 0 {
			until = deadline
		}
		got, err := c.next(until)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() && waiting == 0 { //nolint:errorlint // as gorilla returns it
			return nil
		}
		if err != nil {
			return err
		}
		switch got.Type {
		case "event":
			waiting++
			err = c.ack(got.EventID)
		case "acked":
			waiting--
		}
		if err != nil {
			return err
		}
	}
}

// isRefused reports that the server closed the socket because there are too many.
func isRefused(err error) bool { return websocket.IsCloseError(err, 4429) }
