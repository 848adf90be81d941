package report

import (
	"fmt"
	"slices"
	"strconv"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// Run holds the record of a proof with faults, and its findings.
type Run struct {
	History  *history.History
	Findings []judge.Finding
	// Minutes is the length of the load, Processes the number of servers.
	Minutes   float64
	Processes int
	// Missed are the faults that were tried and not injected, each with the reason.
	Missed []string
}

// Fill writes the run into a result: its verdict and its tables.
func (r *Run) Fill(to *Result) {
	to.Verdict = fmt.Sprintf("**No violation** was found by any of the %d checks.", len(r.Findings))
	if n := judge.Violations(r.Findings); n > 0 {
		to.Verdict = fmt.Sprintf("**%s violations** were found.", Count(n))
	}
	to.Tables = append(to.Tables, r.load(), r.faults(), r.checks())
	if violations := r.violations(); len(violations.Rows) > 0 {
		to.Tables = append(to.Tables, violations)
	}
}

func (r *Run) load() Table {
	h := r.History
	failed := countFunc(h.Attempts, unavailable)
	connections := make(map[int]bool)
	for i := range h.Deliveries {
		connections[h.Deliveries[i].Connection] = true
	}
	return Table{"Load", []string{"", ""}, [][]string{
		{"seed", strconv.FormatUint(h.Seed, 10)},
		{"length", fmt.Sprintf("%g minutes of load, %s altogether", r.Minutes, Clock(h.Length))},
		{"servers", strconv.Itoa(r.Processes)},
		{"agents", Count(len(h.Members))},
		{"requests", Count(len(h.Attempts))},
		{"requests without an answer, or with a status of 500 or more", Count(failed)},
		{"events received", fmt.Sprintf("%s on %s connections", Count(len(h.Deliveries)), Count(len(connections)))},
		{"events acknowledged", Count(len(h.Acks))},
	}}
}

// faults lists the faults in the order in which they began.
func (r *Run) faults() Table {
	t := Table{"Faults", []string{"fault", "target", "at", "lasted", "service back after", "requests that failed", "kind"}, nil}
	inOrder := slices.SortedStableFunc(slices.Values(r.History.Faults), func(a, b history.Fault) int { return int(a.Start - b.Start) })
	for _, f := range inOrder {
		failed := countFunc(r.History.Attempts, func(a *history.Attempt) bool {
			return unavailable(a) && a.Start <= f.End && a.End >= f.Start
		})
		kind := ""
		switch {
		case f.Graceful:
			kind = "graceful"
		case f.Failover:
			kind = "failover"
		}
		t.Rows = append(t.Rows, []string{
			f.Name, f.Target, Clock(f.Start), Seconds(f.Lifted - f.Start), Seconds(f.End - f.Lifted), Count(failed), kind,
		})
	}
	for _, missed := range r.Missed {
		t.Rows = append(t.Rows, []string{missed, "", "", "", "", "", "not injected"})
	}
	return t
}

func (r *Run) checks() Table {
	t := Table{"Checks", []string{"check", "promise", "looked at", "excused", "violations"}, nil}
	for _, f := range r.Findings {
		t.Rows = append(t.Rows, []string{f.Name, f.Promise, Count(f.Looked), Count(f.Excused), Count(f.Count)})
	}
	return t
}

func (r *Run) violations() Table {
	t := Table{"Violations", []string{"check", "violation"}, nil}
	for _, f := range r.Findings {
		for _, violation := range f.Violations {
			t.Rows = append(t.Rows, []string{f.Name, violation})
		}
	}
	return t
}

func unavailable(a *history.Attempt) bool { return a.Status == history.Unanswered || a.Status >= 500 }

func countFunc[T any](all []T, is func(*T) bool) int {
	sum := 0
	for i := range all {
		if is(&all[i]) {
			sum++
		}
	}
	return sum
}
