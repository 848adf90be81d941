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

// Result is the result of a proof of one bug, or of the server without one, which has no name.
type Result struct {
	Bug string `json:"bug"`
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string `json:"by,omitempty"`
	// After is the time from the servers' start until By found it.
	After time.Duration `json:"after,omitempty"`
	// Version is the version of the server in which the bug was planted.
	Version string `json:"version,omitempty"`
	// Violation is the first violation; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation string `json:"violation,omitempty"`
	NotTried  string `json:"not_tried,omitempty"`
}

// Verdict returns the result in a word or two.
func (r Result) Verdict() string {
	switch {
	case r.By != "":
		return r.By
	case r.NotTried != "":
		return "no result: " + r.NotTried
	}
	return "missed"
}

// Results maps the names of bugs to their results.
type Results map[string]Result

// Load reads results of earlier runs from a file, which may be missing. It leaves out bugs that the catalogue no longer has.
func Load(file string) (Results, error) {
	all := make(Results)
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var list []Result
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	for _, result := range list {
		if result.Bug == "" || slices.Contains(Names(), result.Bug) {
			all[result.Bug] = result
		}
	}
	return all, err
}

// Keep writes all results to a file, if it has a name, in the order of the catalogue.
func (r Results) Keep(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r.inOrder(), "", "  ")
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

func (r Results) inOrder() (all []Result) {
	for _, name := range append([]string{""}, Names()...) {
		if result, is := r[name]; is {
			all = append(all, result)
		}
	}
	return all
}

// Untried returns the bugs without a result: neither found nor missed.
func (r Results) Untried(bugs []Row) []Row {
	return slices.DeleteFunc(slices.Clone(bugs), func(b Row) bool {
		result, is := r[b.Name]
		return is && result.NotTried == ""
	})
}

// Found counts the found and the tried bugs.
func (r Results) Found() (found, tried int) {
	for name, result := range r {
		if name != "" {
			tried++
		}
		if name != "" && result.By != "" {
			found++
		}
	}
	return found, tried
}

// Fill writes the verdict and the table of a result.
func (r Results) Fill(to *report.Result) {
	found, tried := r.Found()
	to.Verdict = fmt.Sprintf("**%d of %d bugs were found**, %d of the catalogue were not tried.", found, tried, len(catalogue)-tried)
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after", "version"}}
	for _, result := range r.inOrder() {
		promise := "the server without a bug"
		if i := slices.Index(Names(), result.Bug); i >= 0 {
			promise = catalogue[i].Promise
		}
		bugs.Rows = append(bugs.Rows, []string{result.Bug, promise, result.Verdict(), report.Seconds(result.After), result.Version})
	}
	to.Tables = []report.Table{bugs}
}
