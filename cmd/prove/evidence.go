package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// names matches the ids in a violation.
var names = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

const (
	// shownCases is how many violations are shown in full, shownLines how many records of one, longest their length in bytes.
	shownCases = 5
	shownLines = 40
	longest    = 700
)

// printEvidence writes all violations, and the records with the same ids for the first ones.
func printEvidence(to io.Writer, h *history.History, findings []judge.Finding) {
	shown := 0
	for _, f := range findings {
		for _, violation := range f.Violations {
			fmt.Fprintf(to, "%s: %s\n", f.Name, violation)
			if shown++; shown > shownCases {
				continue
			}
			lines := naming(names.FindAllString(violation, -1), h)
			for _, line := range lines[:min(len(lines), shownLines)] {
				fmt.Fprintf(to, "  %s\n", line[:min(len(line), longest)])
			}
		}
	}
}

// naming lists the requests, events, acks and mails that contain one of some ids.
func naming(ids []string, h *history.History) (lines []string) {
	add := func(record any) {
		raw, _ := json.Marshal(record) //nolint:errchkjson // it was read from JSON
		for _, id := range ids {
			if strings.Contains(string(raw), id) {
				lines = append(lines, string(raw))
				return
			}
		}
	}
	for i := range h.Attempts {
		add(&h.Attempts[i])
	}
	for i := range h.Deliveries {
		add(&h.Deliveries[i])
	}
	for i := range h.Acks {
		add(&h.Acks[i])
	}
	for i := range h.Mails {
		add(&h.Mails[i])
	}
	return lines
}
