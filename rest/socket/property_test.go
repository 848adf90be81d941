package socket_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
	"stoa/graph/graphtest"
)

// story is one agent's life with events, connections on two processes, acks and losses, and what must hold of it: an event comes
// at most once on a connection, in order, not on one that opened after its ack was answered, and in the end not never.
type story struct {
	t         *rapid.T
	processes []*process
	agent     *graphtest.Agent
	// told are the versions of the events told so far: 1 to told.
	told     int
	conns    []*chapter
	received map[int]bool
	// asked are the versions that an ack was sent of, and answered those of which the answer came.
	asked, answered map[int]bool
}

// chapter is one connection.
type chapter struct {
	*client
	ids  map[string]int
	seen []int
	// settled are the versions answered before it was opened.
	settled map[int]bool
	frames  int
}

func (s *story) tell() {
	p := s.processes[rapid.IntRange(0, len(s.processes)-1).Draw(s.t, "on")]
	if rapid.IntRange(0, 3).Draw(s.t, "silently") == 0 {
		p = p.silence(&events.API{DB: p.Events.DB, Wake: func([]uuid.UUID) {}})
	}
	n := rapid.IntRange(1, 4).Draw(s.t, "events")
	versions := make([]int, n)
	for i := range versions {
		s.told++
		versions[i] = s.told
	}
	p.tell(s.agent, versions...)
}

func (s *story) open() {
	if len(s.conns) == 2 {
		s.close()
	}
	settled := make(map[int]bool)
	for version := range s.answered {
		settled[version] = true
	}
	p := s.processes[rapid.IntRange(0, len(s.processes)-1).Draw(s.t, "at")]
	s.conns = append(s.conns, &chapter{client: p.dial(s.agent.Token), ids: make(map[string]int), settled: settled})
}

func (s *story) close() {
	if len(s.conns) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.conns)-1).Draw(s.t, "which")
	conn := s.conns[i]
	s.conns = slices.Delete(s.conns, i, i+1)
	if rapid.Bool().Draw(s.t, "abruptly") {
		_ = conn.NetConn().Close()
		return
	}
	conn.hangUp()
}

// arrived checks a frame against what may come on a connection. It returns the event that was answered, if one was.
func (s *story) arrived(c *chapter, a arrival) string {
	require.NoError(s.t, a.err)
	var f frame
	require.NoError(s.t, json.Unmarshal(a.raw, &f))
	if f.Type == "acked" {
		version, received := c.ids[f.EventID]
		require.True(s.t, received, "an answer to an ack of what did not come")
		require.True(s.t, s.asked[version])
		s.answered[version] = true
		return f.EventID
	}
	version := f.version()
	require.False(s.t, c.settled[version], "event %d comes after its ack was answered", version)
	if n := len(c.seen); n > 0 {
		require.Greater(s.t, version, c.seen[n-1], "out of order or twice")
	}
	c.seen = append(c.seen, version)
	c.ids[f.EventID] = version
	s.received[version] = true
	return ""
}

// listen takes what has come.
func (s *story) listen() {
	for _, c := range s.conns {
		for len(c.arrivals) > 0 {
			s.arrived(c, <-c.arrivals)
		}
	}
}

func (s *story) ack() {
	s.listen()
	if len(s.conns) == 0 {
		return
	}
	c := s.conns[rapid.IntRange(0, len(s.conns)-1).Draw(s.t, "over")]
	if len(c.seen) == 0 || c.frames > 40 {
		return
	}
	version := c.seen[rapid.IntRange(0, len(c.seen)-1).Draw(s.t, "event")]
	for id, known := range c.ids {
		if known == version {
			c.frames++
			s.asked[version] = true
			c.ack(id)
			if rapid.Bool().Draw(s.t, "and wait") {
				answered := ""
				for answered != id {
					answered = s.arrived(c, c.arrive())
				}
			}
		}
	}
}

// end finds out whether anything was lost.
func (s *story) end() {
	for len(s.conns) > 0 {
		s.listen()
		s.close()
	}
	s.open()
	last := s.conns[0]
	for version := 1; version <= s.told; version++ {
		if s.asked[version] {
			continue // deleted, or on its way to it
		}
		for !slices.Contains(last.seen, version) {
			s.arrived(last, last.arrive())
		}
	}
	for version := 1; version <= s.told; version++ {
		require.True(s.t, s.received[version], "event %d never came", version)
	}
	s.close()
}

func TestEventsComeAtLeastOnceInOrderAndNeverAfterTheAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
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
		s := &story{t: rt, processes: processes, agent: h.Agent(), received: map[int]bool{}, asked: map[int]bool{}, answered: map[int]bool{}}
		rt.Repeat(map[string]func(*rapid.T){
			"tell":  func(rt *rapid.T) { s.t = rt; s.tell() },
			"open":  func(rt *rapid.T) { s.t = rt; s.open() },
			"close": func(rt *rapid.T) { s.t = rt; s.listen(); s.close() },
			"ack":   func(rt *rapid.T) { s.t = rt; s.ack() },
			"":      func(rt *rapid.T) { s.t = rt; s.listen() },
		})
		s.t = rt
		s.end()
	})
}
