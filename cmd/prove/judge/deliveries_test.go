package judge_test

import (
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

// posted has an event come to a webhook some time from now, whose receiver answers at once.
func (s *story) posted(event string, after time.Duration, answer int) *history.Delivery {
	d := s.delivery(event)
	d.Connection, d.ConnectedAt, d.At = 100+len(s.Deliveries), 0, s.now+after
	d.Webhook, d.Hook, d.Answer, d.Answered = true, "hook of "+d.Agent, answer, d.At+time.Millisecond
	s.Deliveries = append(s.Deliveries, d)
	s.Length = max(s.Length, d.At+time.Minute)
	return &s.Deliveries[len(s.Deliveries)-1]
}

// two has ann send bob two messages, one after the other.
func (s *story) two() {
	s.message("ann", "bob", "one")
	s.now += 6 * time.Second
	s.message("ann", "bob", "two")
}

// many has ann send bob messages, whose events come to a webhook each after the one that was sent after it.
func (s *story) many() {
	for i := range 24 {
		s.message("ann", "bob", fmt.Sprint("many", i))
	}
	for i := range 24 {
		s.posted(fmt.Sprint("e-many", i^1), time.Duration(i+1)*10*time.Millisecond, 200)
	}
}

// faultAt adds a fault that lasts for a second.
func (s *story) faultAt(after time.Duration) {
	at := s.now + after
	s.Faults = append(s.Faults, history.Fault{Name: "kill", Start: at, Lifted: at + time.Second, End: at + time.Second})
}

var deliveryDefects = []defect{
	{"a wrong signature", "deliveries", "no signature of it is right", func(s *story) {
		s.posted("e-hello", time.Second, 200).Wrong = "no signature of it is right"
	}},
	{"two attempts at once", "deliveries", "while e-hello had no answer", func(s *story) {
		s.posted("e-hello", time.Second, 200).Answered += time.Second
		s.posted("e-again", 1500*time.Millisecond, 200)
	}},
	{"two attempts at one event at once", "deliveries", "while e-hello had no answer", func(s *story) {
		s.posted("e-hello", time.Second, 200).Answered += time.Second
		s.posted("e-hello", 1500*time.Millisecond, 200)
	}},
	{"an event that overtakes", "deliveries", "after e-two, which was caused later", func(s *story) {
		s.two()
		s.posted("e-two", time.Second, 200)
		s.posted("e-one", 2*time.Second, 200)
	}},
	{"an event that overtakes what failed", "deliveries", "after e-two, which was caused later", func(s *story) {
		s.two()
		s.posted("e-two", time.Second, 500)
		s.posted("e-one", 2*time.Second, 200)
	}},
	{"events that mostly overtake each other", "deliveries", "12 of 23 events came to a webhook after ones", func(s *story) { s.many() }},
	{"an event that comes again after it was taken", "deliveries", "its receiver had taken it", func(s *story) {
		s.posted("e-hello", time.Second, 200)
		s.posted("e-hello", 20*time.Second, 200)
	}},
	{"an event that comes to a socket after it was taken", "deliveries", "its receiver had taken it", func(s *story) {
		s.posted("e-hello", time.Second, 200)
		d := s.delivery("e-hello")
		d.Connection, d.ConnectedAt, d.At = 90, s.now+20*time.Second, s.now+21*time.Second
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"an id that changes between two attempts", "event contents", "twice, as e-hello and e-other", func(s *story) {
		s.posted("e-hello", time.Second, 500)
		s.posted("e-hello", 6*time.Second, 200).EventID = "e-other"
	}},
	{"another agent's event", "event contents", "no message to this agent", func(s *story) {
		s.posted("e-hello", time.Second, 200).Agent = "ann"
	}},
}

var deliveriesAllowed = []innocent{
	{"an event that comes again while others come", "deliveries", func(s *story) {
		s.two()
		s.posted("e-one", time.Second, 500)
		s.posted("e-two", 2*time.Second, 200)
		s.posted("e-one", 6*time.Second, 200)
	}},
	{"an event that comes again before its sender has noted that it was taken", "deliveries", func(s *story) {
		s.posted("e-again", time.Second, 200)
		s.posted("e-again", 5*time.Second, 200)
	}},
	{"two attempts at once because the sender was lost", "deliveries", func(s *story) {
		s.posted("e-answer", time.Second, 200).Answered += time.Second
		s.posted("e-again", 1500*time.Millisecond, 200)
		s.faultAt(time.Second)
	}},
	{"an event that comes again because its sender was lost", "deliveries", func(s *story) {
		s.posted("e-answer", time.Second, 200)
		s.posted("e-answer", 20*time.Second, 200)
		s.faultAt(time.Second)
	}},
	{"an event that overtakes by little", "deliveries", func(s *story) {
		s.message("ann", "bob", "one")
		s.message("ann", "bob", "two")
		s.posted("e-two", time.Second, 200)
		s.posted("e-one", 2*time.Second, 200)
	}},
	{"an event that overtakes during a fault", "deliveries", func(s *story) {
		s.two()
		s.posted("e-two", time.Second, 200)
		s.posted("e-one", 2*time.Second, 200)
		s.faultAt(0)
	}},
	{"events of other webhooks", "deliveries", func(s *story) {
		s.posted("e-again", time.Second, 200)
		s.posted("e-answer", 1000*time.Millisecond, 200)
	}},
}
