package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// drainTimeout is how long an agent waits for its waiting events. After drainSilence without an event it has all of them.
	drainTimeout = 60 * time.Second
	drainSilence = 3 * time.Second
	// latestEvents is the version with all kinds of events (§6).
	latestEvents = 2
)

// subprotocols are the socket's subprotocols for each version of the events; the first needs none.
var subprotocols = [latestEvents + 1][]string{2: {"stoa.events.v2"}}

// version draws the version of the events for the next connection: mostly the latest, which also gets the events that the first
// version leaves waiting.
func (a *Agent) version() int {
	if a.chance.IntN(3) == 0 {
		return 1
	}
	return latestEvents
}

// life draws how long a connection is kept.
func (a *Agent) life() time.Duration {
	return time.Duration(a.chance.ExpFloat64() * float64(connectionLife))
}

// connection is one event socket or poll.
type connection struct {
	*websocket.Conn

	agent *Agent
	// opened holds the members that all deliveries of the connection share.
	opened history.Delivery
}

// frame is an event or a confirmation of a socket or a poll.
type frame struct {
	Type    string          `json:"type"`
	EventID string          `json:"event_id"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// newConnection counts a connection. The history considers it open from now on.
func (a *Agent) newConnection(version int) *connection {
	return &connection{agent: a, opened: history.Delivery{
		Agent: a.Handle, Connection: int(a.w.connections.Add(1)), ConnectedAt: a.w.Recorder.Now(), Asked: version,
	}}
}

// connect opens a socket with the events of a version through a server; any server if it is empty.
func (a *Agent) connect(ctx context.Context, server string, version int) (*connection, error) {
	dialer := websocket.Dialer{Subprotocols: subprotocols[version], HandshakeTimeout: requestTimeout, NetDialContext: a.dialer().DialContext}
	header := http.Header{"Authorization": {"Bearer " + a.bearer()}}
	if server != "" {
		header.Set(testbed.ChosenHeader, server)
	}
	conn, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(a.w.url, "http")+"/ws/v1/events/", header)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close() // an upgrade has none
	c := a.newConnection(version)
	c.Conn, c.opened.Process = conn, response.Header.Get(testbed.ServerHeader)
	return c, nil
}

// received records events.
func (c *connection) received(events ...frame) {
	c.agent.w.Recorder.Record(func(h *history.History) {
		for _, e := range events {
			d := c.opened
			d.At, d.EventID, d.Kind, d.Payload = c.agent.w.Recorder.Now(), e.EventID, e.Kind, e.Payload
			h.Deliveries = append(h.Deliveries, d)
		}
	})
}

// acknowledged records answered acks; number is 0 for acks by a request.
func (a *Agent) acknowledged(number int, events ...string) {
	a.w.Recorder.Record(func(h *history.History) {
		for _, id := range events {
			h.Acks = append(h.Acks, history.Ack{Agent: a.Handle, Connection: number, EventID: id, Answered: a.w.Recorder.Now()})
		}
	})
}

// next waits for a frame of a socket and records it.
func (c *connection) next(until time.Time) (got frame, err error) {
	if err = c.SetReadDeadline(until); err == nil {
		err = c.ReadJSON(&got)
	}
	switch got.Type {
	case "event":
		c.received(got)
	case "acked":
		c.agent.acknowledged(c.opened.Connection, got.EventID)
	}
	return got, err
}

// end closes a socket and records how long it was open.
func (c *connection) end() {
	_ = c.Close() // it may have ended
	c.agent.w.record(history.Attempt{Agent: c.agent.Handle, Operation: history.EventSocket, Of: strconv.Itoa(c.opened.Connection),
		Start: c.opened.ConnectedAt, End: c.agent.w.Recorder.Now(), Status: http.StatusOK})
}

// ack acknowledges events over the socket.
func (c *connection) ack(events ...string) error {
	for _, event := range events {
		if err := c.WriteJSON(map[string]string{"type": "ack", "event_id": event}); err != nil {
			return err
		}
	}
	return nil
}

// timedOut reports that nothing came in time.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// isRefused reports that the server closed the socket because there are too many sockets.
func isRefused(err error) bool { return websocket.IsCloseError(err, 4429) }

// listen keeps a socket open until ctx ends. Now and then it leaves the socket, and half of these times polls for a while. It
// acknowledges events at once, late, twice or never.
func (a *Agent) listen(ctx context.Context) {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		if a.chance.IntN(2) == 0 {
			a.poll(ctx)
		}
		if c, err := a.connect(ctx, "", a.version()); err == nil {
			wait = 100 * time.Millisecond
			a.listenOn(ctx, c)
			c.end()
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// listenOn reads a socket until its life ends. It reads and writes in one goroutine: a late ack is sent after the next frame or
// timeout.
func (a *Agent) listenOn(ctx context.Context, c *connection) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	end := time.Now().Add(a.life())
	var late []string
	for time.Now().Before(end) {
		got, err := c.next(end)
		if err != nil {
			return
		}
		if got.Type != "event" {
			continue
		}
		var acks []string
		switch a.chance.IntN(10) {
		case 0:
			acks = []string{got.EventID, got.EventID}
		case 1, 2:
			late = append(late, got.EventID)
		case 3: // none on this connection; the next one gets the event again
		default:
			acks = []string{got.EventID}
		}
		if len(late) > 4 {
			acks, late = append(acks, late...), nil
		}
		if c.ack(acks...) != nil {
			return
		}
	}
}

// poll receives and acknowledges events without a socket, for about the life of a socket or until ctx ends. It leaves a quarter
// of the events unacknowledged, so that a later poll or socket gets them again.
func (a *Agent) poll(ctx context.Context) {
	for end := time.Now().Add(a.life()); time.Now().Before(end) && ctx.Err() == nil; {
		c := a.newConnection(a.version())
		got := a.once(ctx, request{operation: history.EventPoll, query: fmt.Sprintf("?wait=5&limit=20&version=%d", c.opened.Asked)})
		var page struct{ Events []frame }
		if got.into(&page) == nil {
			c.received(page.Events...)
		}
		if a.ackMost(ctx, page.Events...) == 0 {
			pause(ctx, 200*time.Millisecond) // a refusal, or only events that stay unacknowledged
		}
	}
}

// ackMost acknowledges three of four events by a request, and returns how many it tried. A later connection gets events that the
// answer does not call acknowledged.
func (a *Agent) ackMost(ctx context.Context, events ...frame) int {
	var ids []string
	for _, e := range events {
		if a.chance.IntN(4) > 0 {
			ids = append(ids, e.EventID)
		}
	}
	if len(ids) > 0 {
		var answered struct{ Acked []string }
		if a.once(ctx, request{operation: history.EventAck, body: members{"event_ids": ids}}).into(&answered) == nil {
			a.acknowledged(0, answered.Acked...)
		}
	}
	return len(ids)
}

// drain receives and acknowledges all waiting events of the agent.
func (a *Agent) drain(ctx context.Context) (err error) {
	deadline := time.Now().Add(drainTimeout)
	_ = testbed.Await(ctx, 200*time.Millisecond, drainTimeout, func() bool {
		err = a.drainOnce(ctx, deadline)
		return err == nil
	})
	return err
}

func (a *Agent) drainOnce(ctx context.Context, deadline time.Time) error {
	c, err := a.connect(ctx, "", latestEvents)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it has all events by then
	for waiting := 0; ; {
		until := time.Now().Add(drainSilence)
		if waiting > 0 {
			until = deadline
		}
		got, err := c.next(until)
		if timedOut(err) && waiting == 0 {
			return nil
		}
		switch {
		case err != nil:
		case got.Type == "event":
			waiting++
			err = c.ack(got.EventID)
		case got.Type == "acked":
			waiting--
		}
		if err != nil {
			return err
		}
	}
}
