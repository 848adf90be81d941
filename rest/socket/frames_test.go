package socket_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/platform/slack"
)

func toUpper(s string) string { return strings.ToUpper(s) }

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
	h := sharedCluster(t)
	p := h.process(withoutPings)
	agent := h.Agent()
	id := uuid.NewString()
	good := `{"type":"ack","event_id":"` + id + `"}`
	padded := func(size int) string { return good + strings.Repeat(" ", size-len(good)) }
	text := func(s string) func(*testing.T, *client) {
		return func(_ *testing.T, c *client) { c.send(s) }
	}
	raw := func(b []byte) func(*testing.T, *client) {
		return func(t *testing.T, c *client) {
			t.Helper()
			_, err := c.NetConn().Write(b)
			require.NoError(t, err)
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
			_ = c.WriteMessage(websocket.TextMessage, []byte(padded(200_000))) // the server may close before it is all out
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
	h := sharedCluster(t)
	p := h.process(withoutPings)
	agent := h.Agent()
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
			_, err := conn.NetConn().Write(bytes.Repeat(frame, 49))
			require.NoError(t, err)
			_, err = conn.NetConn().Write(rawFrame(0x89, 0x80|4, 0, "last"))
			require.NoError(t, err)
			fiftieth := arrival{}
			for fiftieth.pong != "last" {
				fiftieth = conn.arrive()
				require.NoError(t, fiftieth.err)
			}
			_, _ = conn.NetConn().Write(bytes.Repeat(frame, 200)) // the server may close before it is all out
			require.Equal(t, 4429, conn.code())
		})
	}
}

// TestFirstAcksDoNotCountAsFrames acknowledges a full window in one write, with many more frames than the limit allows.
func TestFirstAcksDoNotCountAsFrames(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p := h.process(withoutPings)
	agent := h.Agent()
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
		_, err := conn.NetConn().Write(all)
		require.NoError(t, err)
		for answers := map[string]bool{}; len(answers) < len(ids); {
			if f := conn.next(); f.Type == "acked" {
				answers[f.EventID] = true
			}
		}
	}
	_, err := one.NetConn().Write(all)
	require.NoError(t, err)
	require.Equal(t, 4429, one.code(), "repeated acks count")
	require.NoError(t, two.WriteControl(websocket.PingMessage, nil, time.Now().Add(slack.TestWait)))
}

func TestAQuietPeerIsPinged(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p := h.process(often)
	conn := p.dial(h.Agent().Token)
	for range 3 {
		select {
		case <-conn.pings:
		case <-time.After(slack.TestWait):
			require.Fail(t, "no ping")
		}
	}
}
