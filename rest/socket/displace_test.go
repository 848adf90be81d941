package socket_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/rest/socket"
)

// While all slots are taken, an agent without a slot gets the slot of the youngest connection of an agent with two slots.
func TestAnAgentWithoutASlotTakesTheYoungestSecondSlot(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess(quotas(2, 32))
	agents := make([]*graphtest.Agent, 16)
	firsts, seconds := make([]*client, len(agents)), make([]*client, len(agents))
	for i := range agents {
		agents[i] = h.Agent()
		firsts[i] = p.connect(agents[i].Token)
	}
	for i, agent := range agents {
		seconds[i] = p.connect(agent.Token)
	}
	for i, youngest := range []int{15, 14} {
		p.connect(h.Agent().Token)
		require.Equal(t, 4429, seconds[youngest].code())
		require.EqualValues(t, 32, h.Count("SELECT count(*) FROM socket_leases"), "%d", i)
		require.EqualValues(t, 32, h.Count("SELECT sum(open) FROM socket_processes"))
	}
	for i := range agents {
		firsts[i].quiet()
		if i < 14 {
			seconds[i].quiet()
		}
	}
	require.Equal(t, 4429, p.dial(agents[15].Token).code(), "it holds one")
}

// The database notifies the process that holds the slot.
func TestASlotIsTakenFromAnotherProcess(t *testing.T) {
	t.Parallel()
	h, here, there := newCluster(t).withTwo(quotas(2, 3))
	one, other := h.Agent(), h.Agent()
	first := here.connect(one.Token)
	second := here.connect(one.Token)
	kept := there.connect(other.Token)

	came := there.connect(h.Agent().Token)
	require.Equal(t, 4429, second.code())
	for _, c := range []*client{first, kept, came} {
		c.quiet()
	}
	require.Equal(t, 4429, there.dial(h.Agent().Token).code(), "every agent holds one")
	require.EqualValues(t, 3, h.Count("SELECT sum(open) FROM socket_processes"))
}

// Polls and streams take slots and lose them like sockets.
func TestPollsAndStreamsTakeSlotsAndLoseThem(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess(quotas(2, 4))
	one, other := h.Agent(), h.Agent()
	p.dial(one.Token).quiet()
	p.dial(other.Token).quiet()
	stream := p.stream(one.Token, "", "")
	waiting := p.polling(other.Token)

	second := h.Agent()
	came := p.stream(second.Token, "", "")
	lost := await(t, waiting)
	require.Equal(t, http.StatusTooManyRequests, lost.status, "%s", lost.raw)
	require.Equal(t, "rate_limited", lost.code(t))
	require.Regexp(t, `^[1-9]\d*$`, lost.header.Get("Retry-After"))

	third := h.Agent()
	answered := make(chan reply, 1)
	go func() { answered <- p.poll(third.Token, "wait=50") }()
	stream.ended()
	p.tell(third, 1)
	require.Equal(t, []int{1}, await(t, answered).page(t).versions())
	p.tell(second, 2)
	came.gets(2)
}

// tellMuch writes events that exceed the system's buffers between the server and a client of deaf.
func (p *process) tellMuch(agent *graphtest.Agent) {
	p.t.Helper()
	payload := events.OrderPayload{OrderID: agent.ID, Status: strings.Repeat("x", 2*sendBuffer)}
	list := make([]events.Event, 16)
	for i := range list {
		list[i] = events.Event{Recipient: agent.ID, Kind: events.OrderChanged, Payload: payload}
	}
	p.tellEvents(list...)
}

// smallDialer connects with a small receive buffer.
var smallDialer = net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, sendBuffer)
	})
}}

// deaf connects and never reads; the client's receive buffer is small.
func (p *process) deaf(agent *graphtest.Agent) {
	p.t.Helper()
	dialer := websocket.Dialer{HandshakeTimeout: slack.TestWait, NetDialContext: smallDialer.DialContext}
	conn, response, err := dialer.Dial(p.url, bearer(agent.Token))
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	p.t.Cleanup(func() { _ = conn.Close() })
}

// The only slot is freed although the client sends nothing.
func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(*testing.T, *process, *graphtest.Agent){
		"socket": func(_ *testing.T, p *process, agent *graphtest.Agent) { p.deaf(agent) },
		"stream": func(t *testing.T, p *process, agent *graphtest.Agent) {
			t.Helper()
			deaf := graphtest.Got(smallDialer.DialContext(t.Context(), "tcp", hostOf(t, p.url)))(t)
			t.Cleanup(func() { _ = deaf.Close() })
			graphtest.OK(t)(io.WriteString(deaf, "GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+agent.Token+"\r\n\r\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p, agent := newCluster(t).withAgent(quotas(1, 1))
			p.tellMuch(agent)
			connect(t, p, agent)
			require.Eventually(t, func() bool { return p.closed(0) == 1 }, slack.TestWait, time.Millisecond)
			require.Zero(t, p.figure("stoa_sockets_open"))
			require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))
			require.EqualValues(t, 16, h.unacknowledged(agent))
			again := p.dial(agent.Token)
			for range 16 {
				require.NoError(t, again.arrive().err) // no event has such a status
			}
		})
	}
}

// More clients than may use the database at once do not read for the whole test. Other clients still get their events.
func TestClientsThatDoNotReadDelayNoOthers(t *testing.T) {
	t.Parallel()
	h, p := newCluster(t).withProcess()
	p.hub.SetWriteTimeout(10 * slack.TestWait)
	agent, deaf := h.Agent(), h.Agent()
	conn := p.connect(agent.Token)
	p.tellMuch(deaf)
	for range 2 * socket.StatementsAtOnce {
		p.deaf(deaf)
	}
	p.tell(agent, 1)
	conn.gets(1)
	require.EqualValues(t, 2*socket.StatementsAtOnce+1, p.figure("stoa_sockets_open"))
}

// rawFrame returns a client's frame, masked with zeros unless the mask bit is missing.
func rawFrame(first, second byte, length int, payload string) []byte {
	b := []byte{first, second}
	switch second & 0x7f {
	case 126:
		b = binary.BigEndian.AppendUint16(b, uint16(length))
	case 127:
		b = binary.BigEndian.AppendUint64(b, uint64(length))
	}
	if second&0x80 != 0 {
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, payload...)
}

func TestAnythingButAnAckIsAProtocolError(t *testing.T) {
	t.Parallel()
	_, p, agent := sharedCluster(t).withAgent(withoutPings)
	id := uuid.NewString()
	good := `{"type":"ack","event_id":"` + id + `"}`
	padded := func(size int) string { return good + strings.Repeat(" ", size-len(good)) }
	text := func(s string) func(*testing.T, *client) { return func(_ *testing.T, c *client) { c.send(s) } }
	raw := func(b []byte) func(*testing.T, *client) {
		return func(t *testing.T, c *client) {
			t.Helper()
			graphtest.OK(t)(c.NetConn().Write(b))
		}
	}
	const open = 0
	for name, c := range map[string]struct {
		do   func(*testing.T, *client)
		code int
	}{
		"ack":             {text(good), open},
		"the largest ack": {text(padded(4096)), open},
		"too large":       {text(padded(4097)), 4400},
		"far too large": {func(_ *testing.T, c *client) {
			_ = c.WriteMessage(websocket.TextMessage, []byte(padded(200_000))) // the server may close before all bytes are sent
		}, 4400},
		"binary": {func(t *testing.T, c *client) {
			t.Helper()
			require.NoError(t, c.WriteMessage(websocket.BinaryMessage, []byte(good)))
		}, 4400},
		"empty":                {text(""), 4400},
		"not JSON":             {text("ack"), 4400},
		"array":                {text("[" + good + "]"), 4400},
		"twice":                {text(good + good), 4400},
		"no type":              {text(`{"event_id":"` + id + `"}`), 4400},
		"null type":            {text(`{"type":null,"event_id":"` + id + `"}`), 4400},
		"another type":         {text(`{"type":"nack","event_id":"` + id + `"}`), 4400},
		"no id":                {text(`{"type":"ack"}`), 4400},
		"null id":              {text(`{"type":"ack","event_id":null}`), 4400},
		"number for an id":     {text(`{"type":"ack","event_id":1}`), 4400},
		"empty id":             {text(`{"type":"ack","event_id":""}`), 4400},
		"list of ids":          {text(`{"type":"ack","event_id":["` + id + `"]}`), 4400},
		"unknown member":       {text(`{"type":"ack","event_id":"` + id + `","at":1}`), 4400},
		"member in capitals":   {text(`{"Type":"ack","event_id":"` + id + `"}`), 4400},
		"duplicate member":     {text(`{"type":"ack","type":"ack","event_id":"` + id + `"}`), 4400},
		"invalid UTF-8":        {text("{\"type\":\"ack\xff\",\"event_id\":\"" + id + "\"}"), 4400},
		"fragments":            {raw(append(rawFrame(0x01, 0x80|10, 0, good[:10]), rawFrame(0x80, 0x80|byte(len(good)-10), 0, good[10:])...)), open},
		"too large fragments":  {raw(append(rawFrame(0x01, 0x80|126, 4000, padded(4000)), rawFrame(0x80, 0x80|97, 0, strings.Repeat(" ", 97))...)), 4400},
		"unmasked":             {raw(rawFrame(0x81, byte(len(good)), 0, good)), 1002},
		"compressed":           {raw(rawFrame(0xc1, 0x80|byte(len(good)), 0, good)), 1002},
		"reserved opcode":      {raw(rawFrame(0x83, 0x80, 0, "")), 1002},
		"reserved control":     {raw(rawFrame(0x8b, 0x80, 0, "")), 1002},
		"end without a start":  {raw(rawFrame(0x80, 0x80, 0, "")), 1002},
		"start in a message":   {raw(append(rawFrame(0x01, 0x80|1, 0, "{"), rawFrame(0x81, 0x80|1, 0, "}")...)), 1002},
		"fragment of a ping":   {raw(rawFrame(0x09, 0x80, 0, "")), 1002},
		"large ping":           {raw(rawFrame(0x89, 0x80|126, 126, strings.Repeat("x", 126))), 1002},
		"too many fragments":   {raw(append(rawFrame(0x01, 0x80, 0, ""), []byte(strings.Repeat(string(rawFrame(0, 0x80, 0, "")), 4000))...)), 4400},
		"length below nothing": {raw(rawFrame(0x81, 0x80|127, -1, "")), 4400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := p.dial(agent.Token)
			conn.t = t
			c.do(t, conn)
			if c.code == open {
				conn.quiet()
				return
			}
			require.Equal(t, c.code, conn.code())
		})
	}
}

// Acks, pings and pongs count as frames; TestPace has the limit for a second.
func TestTooManyFramesASecond(t *testing.T) {
	t.Parallel()
	_, p, agent := sharedCluster(t).withAgent(withoutPings)
	ack := `{"type":"ack","event_id":"` + uuid.NewString() + `"}`
	for name, frame := range map[string][]byte{
		"acks":  rawFrame(0x81, 0x80|byte(len(ack)), 0, ack),
		"pings": rawFrame(0x89, 0x80, 0, ""),
		"pongs": rawFrame(0x8a, 0x80, 0, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := p.dial(agent.Token)
			conn.t = t
			graphtest.OK(t)(conn.NetConn().Write(bytes.Repeat(frame, 49)))
			graphtest.OK(t)(conn.NetConn().Write(rawFrame(0x89, 0x80|4, 0, "last")))
			fiftieth := arrival{}
			for fiftieth.pong != "last" {
				fiftieth = conn.arrive()
				require.NoError(t, fiftieth.err)
			}
			_, _ = conn.NetConn().Write(bytes.Repeat(frame, 200)) // the server may close before all bytes are sent
			require.Equal(t, 4429, conn.code())
		})
	}
}

// TestFirstAcksDoNotCountAsFrames acknowledges a full window in one write, with many more frames than the limit allows.
func TestFirstAcksDoNotCountAsFrames(t *testing.T) {
	t.Parallel()
	_, p, agent := sharedCluster(t).withAgent(withoutPings)
	const more = 20
	p.tell(agent, many(events.WindowSize+more)...)
	one, ids := p.fill(agent)
	two, _ := p.fill(agent)
	var all []byte
	for _, id := range ids {
		ack := `{"type":"ack","event_id":"` + id + `"}`
		all = append(all, rawFrame(0x81, 0x80|byte(len(ack)), 0, ack)...)
	}
	// On the second connection the events are already settled, but acknowledged for the first time.
	for _, conn := range []*client{one, two} {
		graphtest.OK(t)(conn.NetConn().Write(all))
		for answers := map[string]bool{}; len(answers) < len(ids); {
			if f := conn.next(); f.Type == "acked" {
				answers[f.EventID] = true
			}
		}
	}
	graphtest.OK(t)(one.NetConn().Write(all))
	require.Equal(t, 4429, one.code(), "repeated acks count")
	require.NoError(t, two.WriteControl(websocket.PingMessage, nil, time.Now().Add(slack.TestWait)))
}

func TestAQuietPeerIsPinged(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess(often)
	conn := p.dial(h.Agent().Token)
	for range 3 {
		await(t, conn.pings)
	}
}

// If the answer to a lease is lost, the process frees the slot, even before PostgreSQL makes the lease.
func TestASlotIsFreedWhoseLeaseComesLater(t *testing.T) {
	t.Parallel()
	const (
		locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7061006 AND database = " +
			"(SELECT oid FROM pg_database WHERE datname = current_database())"
		closed = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE '%stoa_close_sockets%'"
		leases = "SELECT count(*) FROM socket_leases"
	)
	h := newCluster(t)
	network := graphtest.NewDatabaseProxy(t, h.URL)
	behind := graphtest.Got(db.Open(network.URL, db.Options{}))(t)
	t.Cleanup(func() { _ = behind.Close() })
	h.outbox = behind
	p, agent := h.process(quotas(1, 0)), h.Agent()
	lock := graphtest.Got(h.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	graphtest.OK(t)(lock.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(7061006)"))

	refused := make(chan int)
	go func() { refused <- p.dial(agent.Token).code() }()
	require.Eventually(t, func() bool { return h.Count(locks) == 2 }, slack.TestWait, time.Millisecond)
	network.Tear()
	require.Equal(t, 1013, <-refused)
	require.Eventually(t, func() bool { return h.Count(closed) > 0 }, slack.TestWait, time.Millisecond)
	require.NoError(t, lock.Commit())
	require.Eventually(t, func() bool { return h.Count(locks) == 0 }, slack.TestWait, time.Millisecond)
	require.Eventually(t, func() bool { return h.Count(leases) == 0 }, slack.TestWait, 10*time.Millisecond)
	p.dial(agent.Token).quiet()
}
