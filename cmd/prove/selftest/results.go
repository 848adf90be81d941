package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"stoa/cmd/prove/report"
)

// Result is the result of a proof of one bug.
type Result struct {
	Bug Row `json:"bug"`
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string `json:"by,omitempty"`
	// After is the time from the servers' start until then.
	After time.Duration `json:"after,omitempty"`
	// Version is the version of the server in which the bug was planted.
	Version string `json:"version,omitempty"`
	// Violation is the first one; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation string `json:"violation,omitempty"`
	NotTried  string `json:"not_tried,omitempty"`
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

// Report is the result of a self-test.
type Report struct {
	report.Result

	Results []Result
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

// Fill writes verdict and table of the result anew.
func (r *Report) Fill() {
	without := "In the server without a bug nothing was found."
	switch {
	case r.Without == nil:
		without = "The server without a bug was not tried."
	case r.Without.By != "":
		without = "The server without a bug failed, too: " + r.Without.By + "."
	}
	r.Verdict = fmt.Sprintf("**%d of %d bugs were found.** %s %d were not tried.", r.Found(), len(r.Results), without, len(catalogue)-len(r.Results))
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after", "version"}}
	for _, result := range r.Results {
		bugs.Rows = append(bugs.Rows, []string{
			result.Bug.Name, result.Bug.Promise, result.Verdict(), report.Seconds(result.After), result.Version,
		})
	}
	r.Tables = []report.Table{bugs}
}

// Load reads results of earlier runs from a file, which may be missing. A bug that the catalogue has no more is left out; the server
// without a bug has no name.
func (r *Report) Load(file string) error {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []Result
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for _, result := range all {
		if result.Bug.Name == "" {
			r.Without = &result
		} else if result.Bug.Promise != "" {
			r.Add(result)
		}
	}
	return err
}

// Keep writes all results into a file, if it has a name.
func (r *Report) Keep(file string) error {
	if file == "" {
		return nil
	}
	all := slices.Clone(r.Results)
	if r.Without != nil {
		all = append(all, *r.Without)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

// Add adds a result in the place of an earlier one of that bug, in the order of the catalogue.
func (r *Report) Add(result Result) {
	r.Results = slices.DeleteFunc(r.Results, func(before Result) bool { return before.Bug.Name == result.Bug.Name })
	r.Results = append(r.Results, result)
	slices.SortStableFunc(r.Results, func(a, b Result) int { return position(a.Bug.Name) - position(b.Bug.Name) })
}

// Untried are those of some bugs that were neither found nor missed.
func (r *Report) Untried(bugs []Row) []Row {
	return slices.DeleteFunc(slices.Clone(bugs), func(b Row) bool {
		return slices.ContainsFunc(r.Results, func(result Result) bool { return result.Bug.Name == b.Name && result.NotTried == "" })
	})
}
