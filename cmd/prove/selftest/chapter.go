package selftest

import (
	_ "embed"
	"strings"
	"time"

	"stoa/cmd/prove/report"
)

//go:embed chapter.md.tmpl
var chapterText string

var chapter = report.Template("self-test", chapterText)

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
	return "**missed**"
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

// Report holds the data of the chapter.
type Report struct {
	report.Origin

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

// Catalogue is the number of all rows, Left that of those that were not tried.
func (*Report) Catalogue() int { return len(catalogue) }

// Left is the number of rows of the catalogue without a result.
func (r *Report) Left() int { return len(catalogue) - len(r.Results) }

// WithoutBug says in a sentence what the server without a bug did.
func (r *Report) WithoutBug() string {
	switch {
	case r.Without == nil:
		return "The server without a bug was not tried."
	case r.Without.By != "":
		return "The server without a bug failed, too: " + r.Without.By + "."
	}
	return "In the server without a bug nothing was found."
}

// Chapter is the chapter of the page.
func (r *Report) Chapter() (report.Chapter, error) {
	text, err := report.Fill(chapter, r)
	return report.Chapter{Name: report.SelfTestChapter, Text: text}, err
}
