package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

func TestARightHistory(t *testing.T) {
	t.Parallel()
	s := right()
	before := fmt.Sprintf("%+v", s.History)
	all := judge.Judge(&s.History)
	require.Equal(t, before, fmt.Sprintf("%+v", s.History), "the history is only read")
	for _, f := range all {
		require.Empty(t, f.Violations, f.Name)
		require.Positive(t, f.Looked, f.Name)
		require.Regexp(t, `^[A-Z].*\(§[0-9.]+\)\.$`, f.Promise)
	}
	require.Zero(t, judge.Violations(all))
}

// defect is a broken promise, with the check that finds it and a part of its message.
type defect struct {
	name, check, says string
	plant             func(s *story)
}

var defects = []defect{
	{"internal error", "no internal error", "500", func(s *story) { s.last("tasks.list").Status = 500 }},
	{"an answer of another shape", "no internal error", "no readable answer", func(s *story) {
		s.find("paid-2", 0).Body = raw("none")
	}},
	{"a status that is none of ours", "no internal error", "501", func(s *story) { s.last("tasks.list").Status = 501 }},
	{"unavailable without a fault", "service between faults", "503", func(s *story) { s.Faults = s.Faults[:1] }},
	{"no answer after a fault", "service between faults", "connection reset", func(s *story) {
		s.Faults[0].End = 300 * time.Millisecond
	}},
	{"no answer long after a fault", "service between faults", "connection reset", func(s *story) {
		s.Faults = s.Faults[:1]
		s.find("again", 0).End = s.Faults[0].End + 6*time.Second
	}},
	{"a graceful restart refuses", "graceful changes", "503", func(s *story) { s.last("tasks.list").Status = 503 }},
	{"unavailable without Retry-After", "retry after", "tasks.list", func(s *story) { s.first("tasks.list").RetryAfter = false }},
	{"limited without Retry-After", "retry after", "burst.socket", func(s *story) { s.last("burst.socket").RetryAfter = false }},

	{"an event that misses an open socket", "open sockets", "never came on connection 0 of cat", func(s *story) {
		s.miss("e-later")
	}},

	{"an unsound file is taken", "files", "no sound file", func(s *story) {
		s.ask("ann", history.FileUnsound, "", "hash", 201, nil)
	}},
	{"a token outlives its agent", "erasures", "still good", func(s *story) { s.ask("dan", history.ErasureDue, "", "dan", 200, nil) }},

	{"never settled", "settled", "message.send again of ann was never settled in 2 attempts", func(s *story) {
		s.find("again", 1).Status = 503
	}},
	{"lost message", "messages", "0 times in the list of ann/bob", func(s *story) {
		s.Final.Messages["ann/bob"] = s.Final.Messages["ann/bob"][1:]
	}},
	{"message stored twice", "messages", "twice", func(s *story) {
		for _, list := range []string{"ann/bob", "bob/ann"} {
			m := s.Final.Messages[list][0]
			m.ID = "m-copy"
			s.Final.Messages[list] = append(s.Final.Messages[list], m)
		}
	}},

	{"lost file", "files", "is gone", func(s *story) { s.Final.Files = nil }},
	{"changed file", "files", "which has now", func(s *story) { s.Final.Files["f1"] = "other" }},

	{"a stale read", "orders", "explains order.get", func(s *story) {
		body := s.first(history.OrderGet).Body
		edit(&body, `"id":"paid"`, `"id":"refunded"`)
		s.last(history.OrderGet).Body = body
	}},
	{"a read from the future", "orders", "explains order.get", func(s *story) {
		s.first(history.OrderGet).Body = s.Final.Orders["paid"]
	}},
	{"the wrong state", "orders", "explains order.start", func(s *story) {
		edit(&s.find("paid-3", 0).Body, "in_progress", "funded")
	}},
	{"a gap in the numbers", "wallets", "has number 9", func(s *story) { s.Final.Entries["ann"][3].ID = 9 }},
	{"a wallet that is lost", "wallets", "wallet of bob cannot be read at the end", func(s *story) {
		delete(s.Final.Entries, "bob")
	}},
	{"below zero", "wallets", "below zero", func(s *story) { s.Final.Entries["ann"][1].DeltaMinor = -1_000_000 }},

	{"lost event of a message", "events received", "bob never received message.created m-again", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.EventID == "e-again" })
	}},
	{"lost event of a version", "events received", "ann never received order.changed paid version 1", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.EventID == "e-paid-1-ann" })
	}},
	{"lost event of a contact", "events received", "never received contact.requested", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "contact.requested" })
	}},
	{"an event twice on a connection", "event order", "received event e-hello twice", func(s *story) {
		s.came("e-hello", s.delivery("e-hello").Connection)
	}},
	{"a later event first", "event order", "e-hello after e-again, which was caused later", func(s *story) {
		s.came("e-again", 3)
		s.came("e-hello", 3)
	}},
	{"a message before an order that came first", "event order", "e-paid-1-bob after e-later", func(s *story) {
		s.message("ann", "bob", "later still")
		s.came("e-later still", 3)
		s.came("e-paid-1-bob", 3)
	}},
	{"again after its ack", "acknowledged events", "e-hello of bob came", func(s *story) {
		s.came("e-hello", 9).ConnectedAt = s.Acks[0].Answered + time.Millisecond
	}},
	{"a stranger's order", "event contents", "it is for bob", func(s *story) {
		s.event("cat", 4, "e-x", "order.changed", object{"order_id": "paid", "status": "offered", "version": 1})
	}},
	{"a stranger's message", "event contents", "no message to this agent", func(s *story) {
		d := s.came("e-hello", 1)
		d.Agent, d.EventID = "ann", "e-x"
	}},
	{"a version that is told and never was", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.event("ann", 1, "e-x", "order.changed", object{"order_id": "paid", "status": "closed", "version": 6})
	}},

	{"a limit counted per process", "limits", "4 of 4 succeeded", func(s *story) {
		for _, a := range s.attempts("burst.socket") {
			a.Status = 200
		}
	}},
	{"a limit that refuses too much", "limits", "only 2 of 4 succeeded", func(s *story) { s.Bursts[0].Allowed = 3 }},
	{"a burst that was not recorded", "limits", "has no attempts", func(s *story) { s.Bursts[0].Operation = "none" }},
	{"a ledger that does not balance", "ledger", "sum", func(s *story) { s.Final.Ledger = []string{"the sum is 1"} }},
	{"leaked goroutines", "leaks", "goroutines: 100 before, 200 after, 158 are allowed", func(s *story) { s.Final.After["goroutines"] = 200 }},
	{"leaked slots", "leaks", "socket_slots", func(s *story) { s.Final.After["socket_slots"] = 3 }},
	{"leaked files", "leaks", "temporary_files: 0 before, 1 after, 0 are allowed", func(s *story) { s.Final.After["temporary_files"] = 1 }},
	{"leaked what has no row", "leaks", "other: 0 before, 1 after", func(s *story) { s.Final.After["other"] = 1 }},
}

// The defects and innocents of all files.
var (
	everyDefect   = slices.Concat(defects, lossDefects, ownerDefects, productDefects, repeatDefects)
	everyInnocent = slices.Concat(lossesAllowed, ownersAllowed, productAllowed, repeatsAllowed)
)

func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	for _, d := range everyDefect {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			d.plant(s)
			all := judge.Judge(&s.History)
			require.Contains(t, strings.Join(finding(t, all, d.check).Violations, "\n"), d.says)
		})
	}
}

func TestNoDefects(t *testing.T) {
	t.Parallel()
	for _, a := range everyInnocent {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			a.plant(s)
			all := judge.Judge(&s.History)
			if a.check != "" {
				all = []judge.Finding{finding(t, all, a.check)}
			}
			for _, f := range all {
				require.Empty(t, f.Violations, f.Name)
			}
		})
	}
}

// Two judgements of a history are identical, in the order of their violations, too.
func TestJudgementsAreIdentical(t *testing.T) {
	t.Parallel()
	s := right()
	for i := range 8 {
		key := fmt.Sprintf("missed-%d", i)
		s.message("ann", "cat", key)
		s.socket("cat", key)
	}
	s.drop(func(d history.Delivery) bool { return strings.HasPrefix(d.EventID, "e-missed") })
	s.Length = s.now + time.Minute
	first := judge.Judge(&s.History)
	require.Greater(t, finding(t, first, "open sockets").Count, 7)
	require.Equal(t, first, judge.Judge(&s.History))
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	s := right()
	for range 100 {
		s.Final.Ledger = append(s.Final.Ledger, "wrong")
	}
	f := finding(t, judge.Judge(&s.History), "ledger")
	require.Equal(t, 100, f.Count)
	require.Len(t, f.Violations, 20)
}
