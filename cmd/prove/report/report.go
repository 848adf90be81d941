// Package report stores the result of a run as JSON, makes a page from it, and writes lines of progress during a run.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// Result holds the findings of a command.
type Result struct {
	Title string    `json:"title"`
	Date  time.Time `json:"date"`
	// Version is the server's version, as it reports it, and Command repeats the measurement.
	Version string `json:"version"`
	Command string `json:"command"`
	Machine string `json:"machine"`
	// Verdict is one sentence.
	Verdict string  `json:"verdict"`
	Tables  []Table `json:"tables"`
}

// Table is one table of a result.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// row formats a row of a table in Markdown.
func row(cells []string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}

// Page returns the result as Markdown.
func (r *Result) Page() string {
	made := Table{Head: []string{"", ""}, Rows: [][]string{
		{"date", r.Date.UTC().Format("2 January 2006, 15:04 MST")}, {"server", r.Version}, {"machine", r.Machine},
		{"command", "`" + r.Command + "`"},
	}}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s\n", r.Title, r.Verdict)
	for _, table := range append([]Table{made}, r.Tables...) {
		if table.Title != "" {
			fmt.Fprintf(&text, "\n## %s\n", table.Title)
		}
		text.WriteString("\n" + row(table.Head) + "|" + strings.Repeat(" --- |", len(table.Head)) + "\n")
		for _, cells := range table.Rows {
			text.WriteString(row(cells))
		}
	}
	return text.String()
}

// Write writes result.json and result.md into a folder.
func (r *Result) Write(folder string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for name, content := range map[string]string{"result.json": string(raw) + "\n", "result.md": r.Page()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil { //nolint:gosec // everyone may read it
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// Seconds formats a duration.
func Seconds(t time.Duration) string { return fmt.Sprintf("%.1f s", t.Seconds()) }

// Fill writes the record of a run and its findings into a result. missed are the faults that were not injected, with the reasons.
func (r *Result) Fill(h *history.History, findings []judge.Finding, missed []string) {
	r.Verdict = fmt.Sprintf("**No violation** was found by any of the %d checks.", len(findings))
	if n := judge.Violations(findings); n > 0 {
		r.Verdict = fmt.Sprintf("**%d violations** were found.", n)
	}
	load := Table{"Load", []string{"", ""}, [][]string{
		{"seed", strconv.FormatUint(h.Seed, 10)}, {"length", Seconds(h.Length)},
		{"requests", strconv.Itoa(len(h.Attempts))},
		{"requests without an answer, or with a status of 500 or more", strconv.Itoa(failed(h.Attempts, 0, h.Length))},
		{"events received, acknowledged", fmt.Sprintf("%d, %d", len(h.Deliveries), len(h.Acks))},
	}}
	faults := Table{Title: "Faults", Head: []string{"fault", "target", "at", "lasted", "service back after", "requests that failed", "kind"}}
	for _, f := range slices.SortedStableFunc(slices.Values(h.Faults), func(a, b history.Fault) int { return int(a.Start - b.Start) }) {
		kind := map[[2]bool]string{{true, false}: "graceful", {false, true}: "failover"}[[2]bool{f.Graceful, f.Failover}]
		faults.Rows = append(faults.Rows, []string{f.Name, f.Target, Seconds(f.Start), Seconds(f.Lifted - f.Start), Seconds(f.End - f.Lifted),
			strconv.Itoa(failed(h.Attempts, f.Start, f.End)), kind})
	}
	for _, why := range missed {
		faults.Rows = append(faults.Rows, []string{why, "", "", "", "", "", "not injected"})
	}
	checks := Table{Title: "Checks", Head: []string{"check", "promise", "looked at", "excused", "violations"}}
	violations := Table{Title: "Violations", Head: []string{"check", "violation"}}
	for _, f := range findings {
		checks.Rows = append(checks.Rows, []string{f.Name, f.Promise, strconv.Itoa(f.Looked), strconv.Itoa(f.Excused), strconv.Itoa(f.Count)})
		for _, violation := range f.Violations {
			violations.Rows = append(violations.Rows, []string{f.Name, violation})
		}
	}
	if r.Tables = append(r.Tables, load, faults, checks); len(violations.Rows) > 0 {
		r.Tables = append(r.Tables, violations)
	}
}

// failed counts the requests of a span without an answer, or with a status of 500 or more.
func failed(all []history.Attempt, from, to time.Duration) (n int) {
	for i := range all {
		if a := &all[i]; (a.Status == history.Unanswered || a.Status >= 500) && a.Start <= to && a.End >= from {
			n++
		}
	}
	return n
}

// interval is the time between two lines of progress.
const interval = 5 * time.Second

// Progress writes a line about the time since the last line, repeatedly until ctx ends.
func Progress(ctx context.Context, recorder *history.Recorder, to io.Writer) {
	for requests, last := 0, recorder.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		now, before, unavailable, events := recorder.Now(), requests, 0, 0
		recorder.Record(func(h *history.History) {
			unavailable, requests, events = failed(h.Attempts[before:], 0, now), len(h.Attempts), len(h.Deliveries)
		})
		fmt.Fprintf(to, "%6s  %5.0f requests/s  %d failed  %d events  %s\n", now.Round(time.Second),
			float64(requests-before)/(now-last).Seconds(), unavailable, events, strings.Join(recorder.InForce(), " + "))
		last = now
	}
}
