package judge_test

import (
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
}
