package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

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
