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
	loss := history.Loss{Begun: s.now, Made: s.now + 50*time.Millisecond}
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

var lossesAllowed = []innocent{
	{"nothing happens between backup and restore", "", func(s *story) { s.restored(func() {}) }},
	{"a message that is gone", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.unsaid("then")
	}},
}

var lossDefects = []defect{
	{"an ack from before the backup is forgotten", "acknowledged events", "e-hello of bob came", func(s *story) {
		s.restored(func() {})
		d := s.delivery("e-hello")
		d.Connection, d.ConnectedAt, d.At = 50, s.now, s.now
		s.Deliveries = append(s.Deliveries, d)
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
}

// No check reports a loss that a restore allows, neither during the run nor at its end.
func TestLossesThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, a := range lossesAllowed {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			a.plant(s)
			for _, f := range judge.Judge(&s.History) {
				require.True(t, len(f.Violations) == 0 || a.check != "" && a.check != f.Name, "%s: %v", f.Name, f.Violations)
			}
			for name, violations := range s.early() {
				require.Empty(t, violations, name)
			}
		})
	}
}
