package selftest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/report"
)

// Result is the result of a proof of one bug.
type Result struct {
	Bug Row
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string
	// After is the time from the servers' start until then.
	After time.Duration
	// Load is that of the machine in the last minute of the proof; 0 if it is not known.
	Load float64
	// Version is that of the server in which the bug was planted, as its program names it; empty if it is not known.
	Version string
	// Violation is the first one; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation, NotTried string
}

// Verdict is the result in a word or two.
func (r Result) Verdict() string {
	switch {
	case r.By != "":
		return r.By
	case r.NotTried != "":
		return "no result: " + r.NotTried
	}
	return "missed"
}

// Commit is the commit that the version names, or the whole version.
func (r Result) Commit() string {
	_, commit, found := strings.Cut(r.Version, "+git")
	if !found {
		return r.Version
	}
	_, commit, _ = strings.Cut(commit, ".")
	return commit
}

// Report is the result of a self-test.
type Report struct {
	report.Result

	Minutes           float64
	Seed              uint64
	Processes, Agents int
	Faults            string
	Results           []Result
	// Without is the result of the server without a bug; nil if that was not tried.
	Without *Result
}

// Found counts the bugs that were found.
func (r *Report) Found() (found int) {
	for _, result := range r.Results {
		if result.By != "" {
			found++
		}
	}
	return found
}

// Fill writes verdict and tables of the result anew.
func (r *Report) Fill() {
	without := "In the server without a bug nothing was found."
	switch {
	case r.Without == nil:
		without = "The server without a bug was not tried."
	case r.Without.By != "":
		without = "The server without a bug failed, too: " + r.Without.By + "."
	}
	r.Verdict = fmt.Sprintf("**%d of %d bugs were found.** %s", r.Found(), len(r.Results), without)
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after", "load", "version"}}
	for _, result := range r.Results {
		after, load := "", ""
		if result.By != "" {
			after = report.Seconds(result.After)
		}
		if result.Load > 0 {
			load = strconv.FormatFloat(result.Load, 'f', 0, 64)
		}
		bugs.Rows = append(bugs.Rows, []string{result.Bug.Name, result.Bug.Promise, result.Verdict(), after, load, result.Commit()})
	}
	r.Tables = []report.Table{{Title: "Proofs", Head: []string{"", ""}, Rows: [][]string{
		{"minutes of load", strconv.FormatFloat(r.Minutes, 'f', -1, 64)},
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"servers, agents", fmt.Sprintf("%d, %d", r.Processes, r.Agents)},
		{"faults, besides those that a row names", r.Faults},
		{"bugs of the catalogue that were not tried", strconv.Itoa(len(catalogue) - len(r.Results))},
	}}, bugs}
}
