package judge_test

import (
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

var contentionDefects = []defect{
	{"events wait for a search at another server", "wake-ups", "to sockets of other servers", func(s *story) { s.wakeUps(0, time.Second) }},
	{"an event that becomes visible during a fault misses an open socket", "open sockets", "never came on connection 0 of cat", func(s *story) {
		s.delay()
		d := &s.Deliveries[s.position("e-later")]
		d.Connection, d.ConnectedAt = 9, s.now
	}},
	{"an event that is late by more than the machine had no time", "open sockets", "never came on connection 0 of cat", func(s *story) {
		s.delay()
		s.Faults[len(s.Faults)-1].Name = history.MachineStarved
		s.first(history.EventSocket).End += time.Second
		d := &s.Deliveries[s.position("e-later")]
		d.Connection, d.ConnectedAt = 9, s.now
	}},
	{"an erased agent may ask for its erasure", "erasures", "still good", func(s *story) {
		s.ask("dan", history.ErasureDue, "", "dan", 404, nil).Code = "not_found"
	}},
}

var contentionAllowed = []innocent{
	{"a machine on which all events take long", "wake-ups", func(s *story) { s.wakeUps(time.Second, 2*time.Second) }},
	{"an event that becomes visible during a fault and comes on a socket that is open", "open sockets", (*story).delay},
}

// delay has a fault met a message, and cat's socket stay open long enough after it.
func (s *story) delay() {
	sent := s.find("later", 0)
	s.Faults = append(s.Faults, history.Fault{Name: "late", Start: sent.Start, Lifted: sent.End, End: sent.End})
	s.first(history.EventSocket).End += time.Second
}

// wakeUps has ann write to an open socket of bob's, by turns through the socket's server and another one, with the delays of both.
func (s *story) wakeUps(near, far time.Duration) {
	s.now = s.Faults[2].End + 12*time.Second
	for i := range 40 {
		s.message("ann", "bob", fmt.Sprintf("wake %d", i))
		delay := near
		if i%2 == 0 {
			s.Attempts[len(s.Attempts)-1].Process = "server 2"
			delay = far
		}
		s.Deliveries[len(s.Deliveries)-1].At += delay
		s.now += max(near, far)
	}
}
