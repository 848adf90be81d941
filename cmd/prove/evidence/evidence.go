// Package evidence finds what belongs to a violation: the requests, events and mails that name one of the things that it names.
package evidence

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// Case is a violation with what belongs to it, in the order of time.
type Case struct {
	Check, Violation string
	Lines            []Line
}

// Line is a request, event, ack or mail as a reader sees it.
type Line struct {
	At   time.Duration
	Text string
}

// names finds the ids in a violation.
var names = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Of returns a case for each described violation, those with the least that belongs to them first: a short story is read first.
func Of(h *history.History, findings []judge.Finding) []Case {
	var cases []Case
	for _, f := range findings {
		for _, violation := range f.Violations {
			cases = append(cases, Case{f.Name, violation, lines(h, names.FindAllString(violation, -1))})
		}
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(len(a.Lines), len(b.Lines)) })
	return cases
}

// lines lists what names one of the ids.
func lines(h *history.History, ids []string) []Line {
	if len(ids) == 0 {
		return nil
	}
	about := func(texts ...string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, id) })
		})
	}
	var found []Line
	for i := range h.Attempts {
		if a := &h.Attempts[i]; about(a.ID, a.Subject, string(a.Body)) {
			found = append(found, Line{a.Start, request(a)})
		}
	}
	for i := range h.Deliveries {
		if d := &h.Deliveries[i]; about(d.EventID, string(d.Payload)) {
			found = append(found, Line{d.At, fmt.Sprintf("event %s %s to %s on connection %d: %s", d.EventID, d.Kind, d.Agent, d.Connection, d.Payload)})
		}
	}
	for i := range h.Acks {
		if a := &h.Acks[i]; about(a.EventID) {
			found = append(found, Line{a.Answered, fmt.Sprintf("ack of event %s by %s answered on connection %d", a.EventID, a.Agent, a.Connection)})
		}
	}
	for i := range h.Mails {
		if m := &h.Mails[i]; about(m.Challenge, m.MessageID) {
			found = append(found, Line{m.At, fmt.Sprintf("mail %s of challenge %s to %s, confirmed: %t", m.MessageID, m.Challenge, m.To, m.Answered)})
		}
	}
	slices.SortStableFunc(found, func(a, b Line) int { return cmp.Compare(a.At, b.At) })
	return found
}

// longest is how many bytes of an answer are shown.
const longest = 400

func request(a *history.Attempt) string {
	return strings.TrimSpace(judge.Describe(a) + " " + string(a.Body[:min(len(a.Body), longest)]))
}

const (
	// shownCases and shownLines bound what Print writes.
	shownCases = 5
	shownLines = 40
)

// Print writes the first cases with all that belongs to them, and of the other violations the text alone.
func Print(to io.Writer, cases []Case) {
	for i, c := range cases {
		fmt.Fprintf(to, "%s: %s\n", c.Check, c.Violation)
		if i >= shownCases {
			continue
		}
		for j, line := range c.Lines {
			if j == shownLines {
				fmt.Fprintf(to, "  … and %d more\n", len(c.Lines)-shownLines)
				break
			}
			fmt.Fprintf(to, "  %9.3fs  %s\n", line.At.Seconds(), line.Text)
		}
	}
}
