package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// restored lets do happen between a backup and the end of all servers, and restores the backup.
func (s *story) restored(do func()) {
	s.now += time.Second
	loss := history.Loss{Begun: s.now}
	s.now += 100 * time.Millisecond
	do()
	for i := range s.Attempts {
		s.Attempts[i].Changes = true
	}
	s.now += time.Second
	loss.Stopped, loss.Restored = s.now, s.now+time.Second
	s.Faults = append(s.Faults, history.Fault{
		Name: "restored", Start: loss.Stopped, Lifted: loss.Restored, End: loss.Restored + 50*time.Millisecond, Failover: true,
	})
	s.Losses = append(s.Losses, loss)
	s.now = loss.Restored + 100*time.Millisecond
	s.Length = s.now + time.Minute
}

// unsaid takes a message out of all lists.
func (s *story) unsaid(key string) {
	for list, all := range s.Final.Messages {
		s.Final.Messages[list] = slices.DeleteFunc(all, func(m history.Message) bool { return m.ClientMessageID == key })
	}
}

// No check reports a loss that a restore allows, neither during the run nor at its end.
var lossesAllowed = []innocent{
	{"nothing happens between backup and restore", "", func(s *story) { s.restored(func() {}) }},
	{"a message that is gone", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.unsaid("then")
	}},
	{"an event that came again between backup and restore", "", func(s *story) {
		s.hook("e-later", 30, 500)
		s.restored(func() { s.hook("e-later", 31, 200) })
		s.Length += time.Hour
	}},

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

var lossDefects = []defect{
	{"an ack from before the backup is forgotten", "acknowledged events", "e-hello of bob came", func(s *story) {
		s.restored(func() {})
		d := s.came("e-hello", 50)
		d.ConnectedAt, d.At = s.now, s.now
	}},
	{"a post from before the backup cannot be found", "refusals", "was not allowed at that moment", func(s *story) {
		s.restored(func() {})
		s.refused("ann", history.PostUpdate, "", "p2", 404, "not_found")
	}},
	{"a token from before the backup is refused", "refusals", "nothing allows this refusal", func(s *story) {
		s.restored(func() {})
		s.refused("ann", history.WalletGet, "", "", 401, "unauthorized")
	}},
	{"an error between backup and restore", "no internal error", "500", func(s *story) {
		s.restored(func() { s.ask("ann", "tasks.list", "", "/tasks", 500, nil) })
	}},
	{"another price between backup and restore", "repeats", "order.version is 5 instead of 2", func(s *story) {
		s.restored(func() { s.again("paid-2").Body = s.find("paid-5", 0).Body })
	}},

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

// posted has an event come to a webhook some time from now, whose receiver answers at once.
func (s *story) posted(event string, after time.Duration, answer int) *history.Delivery {
	d := s.came(event, 100+len(s.Deliveries))
	d.ConnectedAt, d.At = 0, s.now+after
	d.Webhook, d.Hook, d.Answer, d.Answered = true, "hook of "+d.Agent, answer, d.At+time.Millisecond
	s.Length = max(s.Length, d.At+time.Minute)
	return d
}

// two has ann send bob two messages, one after the other.
func (s *story) two() {
	s.message("ann", "bob", "one")
	s.now += 6 * time.Second
	s.message("ann", "bob", "two")
}

// faultAt adds a fault that lasts for a second.
func (s *story) faultAt(at time.Duration) *history.Fault {
	s.Faults = append(s.Faults, history.Fault{Name: "kill", Start: at, Lifted: at + time.Second, End: at + time.Second})
	return &s.Faults[len(s.Faults)-1]
}

// moments are alternately times during a request and right after it; with -short every 16th of them.
func (s *story) moments() []time.Duration {
	at := []time.Duration{0, s.Length}
	for i := range s.Attempts {
		at = append(at, s.Attempts[i].End-time.Duration(i%2))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if !testing.Short() {
		return at
	}
	var some []time.Duration
	for few := range slices.Chunk(at, 16) {
		some = append(some, few[0])
	}
	return some
}

// soFar returns the record at a moment: finished requests and ended faults; other faults are in force.
func (s *story) soFar(now time.Duration) *history.History {
	h := s.History
	h.Attempts, h.Faults = nil, nil
	for _, a := range s.Attempts {
		if a.End <= now {
			h.Attempts = append(h.Attempts, a)
		}
	}
	for _, f := range s.Faults {
		if f.End > now {
			f.Lifted, f.End = now+time.Hour, now+time.Hour
		}
		if f.Start <= now {
			h.Faults = append(h.Faults, f)
		}
	}
	return &h
}

// longest is how long the longest request of a story takes.
func (s *story) longest() (longest time.Duration) {
	for i := range s.Attempts {
		longest = max(longest, s.Attempts[i].End-s.Attempts[i].Start)
	}
	return longest
}

// early judges a story at every moment and returns the checks that ever found something.
func (s *story) early() map[string][]string {
	found := make(map[string][]string)
	longest := s.longest()
	for _, until := range s.moments() {
		for _, f := range judge.Early(s.soFar(until+longest), until) {
			found[f.Name] = append(found[f.Name], f.Violations...)
		}
	}
	return found
}

// Early judgement finds nothing in a history that keeps every promise, even if it looks broken.
func TestEarlyFindsNothingInARightHistory(t *testing.T) {
	t.Parallel()
	for _, a := range append(everyInnocent, innocent{"right", "", func(*story) {}}) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			a.plant(s)
			found := s.early()
			if a.check == "" {
				for name, violations := range found {
					require.Empty(t, violations, name)
				}
			}
			require.Empty(t, found[a.check])
		})
	}
}

// Every early finding is also found at the end, and every early check finds something early.
func TestEarlyFindingsStand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs every night")
	}
	useful := make(map[string]bool)
	for _, d := range append(everyDefect, defect{"no mail", "mails", "", func(s *story) { s.Mails = nil }}) {
		s := right()
		d.plant(s)
		var violated []string
		for _, f := range judge.Judge(&s.History) {
			if f.Count > 0 {
				violated = append(violated, f.Name)
			}
		}
		for name, violations := range s.early() {
			if len(violations) > 0 {
				require.Contains(t, violated, name, "%s: %v", d.name, violations)
				useful[name] = true
			}
		}
	}
	for _, f := range judge.Early(&right().History, 0) {
		require.True(t, useful[f.Name], "%s finds nothing early", f.Name)
	}
}
