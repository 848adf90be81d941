package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/report"
)

// conclude prints the findings, and writes history and result if requested. A stopped run has no result.
func (r *run) conclude(ctx context.Context) error {
	if r.History != "" {
		text, err := json.Marshal(r.judged)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.History, text, 0o600); err != nil {
			return err
		}
	}
	for _, missed := range r.scene.Missed() {
		r.logf("not injected: %s", missed)
	}
	if r.Out != "" && !r.early {
		made, err := r.result(ctx)
		if err == nil {
			err = made.Write(r.Out)
		}
		if err != nil {
			return err
		}
	}
	err := verdict(r.judged, r.findings)
	if err != nil {
		fmt.Fprintf(os.Stdout, "seed %d; again: %s\n", r.Seed, again(r.Seed))
	}
	return err
}

func (r *run) result(ctx context.Context) (*report.Result, error) {
	made, err := newResult(ctx, "Faults", r.Server, again(r.Seed))
	if err == nil && r.Older != "" {
		var older string
		older, err = version(ctx, r.Older)
		made.Version += ", and older: " + older
	}
	made.Fill(r.judged, r.findings, r.scene.Missed())
	return made, err
}

// newResult begins the result of a command.
func newResult(ctx context.Context, title, server, command string) (*report.Result, error) {
	build, err := version(ctx, server)
	machine := fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	return &report.Result{Title: title, Date: time.Now(), Version: build, Command: command, Machine: machine}, err
}

// version asks a program for its name, its commit, and its build information.
func version(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "version").Output()
	return strings.Join(strings.Fields(string(out)), " "), err
}

// again returns the command that repeats this one.
func again(seed uint64) string {
	flags := strings.Join(os.Args[1:], " ")
	if !strings.Contains(flags, "--seed") {
		flags += fmt.Sprintf(" --seed %d", seed)
	}
	return "make prove PROVEFLAGS='" + strings.TrimSpace(flags) + "'"
}

// Run judges a history that an earlier run has kept.
func (c *judgeCommand) Run() error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	h := new(history.History)
	if err := json.Unmarshal(text, h); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if h.Final.Orders == nil { // the run was stopped
		return verdict(h, judge.Early(h, h.Length-behind))
	}
	return verdict(h, judge.Judge(h))
}

// verdict prints the judge's findings, with the requests and events that belong to them. It returns an error for any violation.
func verdict(h *history.History, findings []judge.Finding) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%d looked at\t%d excused\t%d violations\t%s\n", f.Name, f.Looked, f.Excused, f.Count, f.Promise)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	printEvidence(os.Stdout, h, findings)
	if n := judge.Violations(findings); n > 0 {
		return fmt.Errorf("promises were broken %d times", n)
	}
	return nil
}

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
	for _, all := range []any{h.Attempts, h.Deliveries, h.Acks, h.Mails} {
		var records []json.RawMessage
		raw, _ := json.Marshal(all)       //nolint:errchkjson // it was read from JSON
		_ = json.Unmarshal(raw, &records) // it was just written
		for _, record := range records {
			if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(string(record), id) }) {
				lines = append(lines, string(record))
			}
		}
	}
	return lines
}
