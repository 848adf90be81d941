package socket_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
	"stoa/graph/graphtest"
)

// model holds the rules for one agent's events, with connections on two processes, acks and lost wake-ups: an event arrives at
// most once on a connection, in order, and never on a connection that opened after its ack was answered. In the end every event
// has arrived.
type model struct {
	t         *rapid.T
	processes []*process
	agent     *graphtest.Agent
	// friend writes to the agent; messages maps friend's messages to versions.
	friend   *graphtest.Agent
	messages map[string]int
	// told is the last version so far; versions begin with 1.
	told     int
	conns    []*modelConn
	received map[int]bool
	// asked holds the versions whose ack was sent, answered the versions whose ack was answered.
	asked, answered map[int]bool
}

// modelConn is one connection.
type modelConn struct {
	*client
	ids  map[string]int
	seen []int
	// settled holds the versions answered before the connection opened.
	settled map[int]bool
	frames  int
}

func (m *model) tell() {
	p := m.processes[rapid.IntRange(0, len(m.processes)-1).Draw(m.t, "on")]
	if rapid.Bool().Draw(m.t, "a message") {
		m.told++
		in := graphtest.Envelope(m.friend, m.agent)
		m.messages[*in.ClientMessageID] = m.told
		graphtest.OK(m.t)(p.Messages.SendMessage(m.friend.Ctx, in))
		return
	}
	if rapid.IntRange(0, 3).Draw(m.t, "silently") == 0 {
		p = p.withoutWakeUps()
	}
	versions := after(m.told, rapid.IntRange(1, 4).Draw(m.t, "events"))
	m.told += len(versions)
	p.tell(m.agent, versions...)
}

func (m *model) open() {
	if len(m.conns) == 2 {
		m.close()
	}
	settled := make(map[int]bool)
	for version := range m.answered {
		settled[version] = true
	}
	p := m.processes[rapid.IntRange(0, len(m.processes)-1).Draw(m.t, "at")]
	m.conns = append(m.conns, &modelConn{client: p.dial(m.agent.Token), ids: make(map[string]int), settled: settled})
}

func (m *model) close() {
	if len(m.conns) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.conns)-1).Draw(m.t, "which")
	conn := m.conns[i]
	m.conns = slices.Delete(m.conns, i, i+1)
	if rapid.Bool().Draw(m.t, "abruptly") {
		_ = conn.NetConn().Close()
		return
	}
	conn.hangUp()
}

// arrived checks that a frame is allowed on a connection. If the frame answers an ack, arrived returns its event.
func (m *model) arrived(c *modelConn, a arrival) string {
	require.NoError(m.t, a.err)
	var f frame
	require.NoError(m.t, json.Unmarshal(a.raw, &f))
	if f.Type == "acked" {
		version, received := c.ids[f.EventID]
		require.True(m.t, received, "an answer to an ack of what did not come")
		require.True(m.t, m.asked[version])
		m.answered[version] = true
		return f.EventID
	}
	version := m.version(f)
	require.False(m.t, c.settled[version], "event %d comes after its ack was answered", version)
	if n := len(c.seen); n > 0 {
		require.Greater(m.t, version, c.seen[n-1], "out of order or twice")
	}
	c.seen = append(c.seen, version)
	c.ids[f.EventID] = version
	m.received[version] = true
	return ""
}

// version returns the version of an event, or the version of its message in messages.
func (m *model) version(f frame) int {
	if f.Kind != string(events.MessageCreated) {
		return f.version()
	}
	return m.messages[f.Payload["client_message_id"].(string)]
}

// listen checks the frames that have arrived.
func (m *model) listen() {
	for _, c := range m.conns {
		for len(c.arrivals) > 0 {
			m.arrived(c, <-c.arrivals)
		}
	}
}

func (m *model) ack() {
	m.listen()
	if len(m.conns) == 0 {
		return
	}
	c := m.conns[rapid.IntRange(0, len(m.conns)-1).Draw(m.t, "over")]
	if len(c.seen) == 0 || c.frames > 40 {
		return
	}
	version := c.seen[rapid.IntRange(0, len(c.seen)-1).Draw(m.t, "event")]
	for id, known := range c.ids {
		if known == version {
			c.frames++
			m.asked[version] = true
			c.ack(id)
			if rapid.Bool().Draw(m.t, "and wait") {
				answered := ""
				for answered != id {
					answered = m.arrived(c, c.arrive())
				}
			}
		}
	}
}

// end checks that no event was lost.
func (m *model) end() {
	for len(m.conns) > 0 {
		m.listen()
		m.close()
	}
	m.open()
	last := m.conns[0]
	for version := 1; version <= m.told; version++ {
		if m.asked[version] {
			continue // it is deleted, or soon will be
		}
		for !slices.Contains(last.seen, version) {
			m.arrived(last, last.arrive())
		}
	}
	for version := 1; version <= m.told; version++ {
		require.True(m.t, m.received[version], "event %d never came", version)
	}
	m.close()
}

func TestEventsComeAtLeastOnceInOrderAndNeverAfterTheAnswer(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	processes := []*process{h.process(), h.process()}
	stop := make(chan struct{})
	defer close(stop)
	go func() { // the deliver job
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = processes[0].Events.WakeWaiting(t.Context())
			}
		}
	}()
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			t: rt, processes: processes, agent: h.Agent(), friend: h.Agent(), messages: map[string]int{}, received: map[int]bool{},
			asked: map[int]bool{}, answered: map[int]bool{},
		}
		h.Befriend(m.friend, m.agent)
		h.Exec("DELETE FROM events WHERE recipient_id = $1", m.agent.ID)
		rt.Repeat(map[string]func(*rapid.T){
			"tell":  func(rt *rapid.T) { m.t = rt; m.tell() },
			"open":  func(rt *rapid.T) { m.t = rt; m.open() },
			"close": func(rt *rapid.T) { m.t = rt; m.listen(); m.close() },
			"ack":   func(rt *rapid.T) { m.t = rt; m.ack() },
			"":      func(rt *rapid.T) { m.t = rt; m.listen() },
		})
		m.t = rt
		m.end()
	})
}
