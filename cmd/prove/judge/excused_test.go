package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// busy is an answer that the canary had to wait for, just now.
func (s *story) busy() {
	s.Delays = append(s.Delays, history.Delay{Start: s.now, End: s.now + 100*time.Millisecond})
}

// slowReading makes bob read a profile for three seconds, without a fault.
func (s *story) slowReading() {
	s.now = s.Faults[2].End + 12*time.Second
	s.missing("bob", history.CardGet, "dan")
	s.last(history.CardGet).End += 3 * time.Second
}

// Each event that a check passes over is counted, with its reason.
func TestExcusesAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, check string
		plant       func(s *story)
	}{
		{"the machine had no time for a request", "service between faults", func(s *story) {
			s.slowReading()
			a := s.ask("dan", "profile.update", "", "", 503, nil)
			a.RetryAfter, a.End = true, a.Start+4*time.Second
			s.busy()
		}},
		{"the machine had no time for a search", "service between faults", func(s *story) {
			s.now = s.Faults[2].End + 12*time.Second
			a := s.ask("dan", "burst.search", "", "", 503, nil)
			a.RetryAfter, a.End = true, a.Start+1200*time.Millisecond
			s.busy()
		}},
		{"the machine starved during a request", "service between faults", func(s *story) {
			s.now = s.Faults[2].End + 12*time.Second
			s.ask("dan", "profile.update", "", "", history.Unanswered, nil)
			s.Faults = append(s.Faults, history.Fault{Name: history.MachineStarved, Start: s.now, Lifted: s.now, End: s.now})
		}},
		{"a restart cut a slow file off", "graceful changes", func(s *story) {
			s.slowly("slow", 503).RetryAfter = true
			s.faultAt(-5 * time.Second)
			s.Faults[len(s.Faults)-1].Graceful = true
			s.sentAgain("slow")
		}},
		{"a message whose answer is not known", "messages", func(s *story) {
			s.Sent = append(s.Sent, history.Sent{ClientMessageID: "lost", Sender: "ann", Recipient: "bob"})
			s.ask("ann", history.MessageSend, "lost", "bob", history.Unanswered, nil)
		}},
		{"an act on an order whose answer is not known", "orders", func(s *story) {
			s.ask("ann", history.OrderDispute, "lost", "paid", history.Unanswered, nil)
		}},
		{"a limit that a failover forgot", "limits", func(s *story) { s.Faults[1].Failover = true }},
		{"an event that is due after its socket has ended", "open sockets", func(s *story) {
			s.delay()
			s.Faults[len(s.Faults)-1].End = s.first(history.EventSocket).End
		}},
		{"a socket whose token ended during a fault", "tokens", func(s *story) {
			s.ask("dan", history.TokenSocket, "", "dan", 200, nil).Of = "token 0"
			s.faultAt(0)
		}},
		{"an event that failed before a fault and is due after the end", "webhooks", func(s *story) {
			s.posted("e-again", 0, 500)
			s.faultAt(time.Second)
			s.Length = s.now + 46*time.Second
		}},
		{"a mail that is not due yet", "mails", func(s *story) {
			s.Mails = nil
			s.mailFault()
		}},
		{"a request that a restore may have undone", "settled", func(s *story) {
			s.restored(func() { s.message("ann", "bob", "then") })
		}},
	} {
		s := right()
		before := finding(t, judge.Judge(&s.History), c.check).Excused
		s = right()
		c.plant(s)
		f := finding(t, judge.Judge(&s.History), c.check)
		require.Empty(t, f.Violations, c.name)
		require.Greater(t, f.Excused, before, c.name)
	}
}
