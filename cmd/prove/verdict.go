package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"stoa/cmd/prove/evidence"
	"stoa/cmd/prove/faults"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/live"
	"stoa/cmd/prove/report"
)

var errBroken = errors.New("promises were broken")

// conclude prints the findings, and keeps the history and writes the page where that is wanted. A run that was stopped has no page.
func (r *run) conclude(ctx context.Context) error {
	o := &r.outcome
	if r.History != "" {
		text, err := json.Marshal(o.history)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.History, text, 0o600); err != nil {
			return err
		}
	}
	for _, missed := range r.scene.Missed() {
		r.logf("%s was not injected: %v", missed.Name, missed.Why)
	}
	if r.Out != "" && !o.early {
		if err := r.writePage(ctx, o.history, o.findings); err != nil {
			return err
		}
	}
	err := verdict(o.history, o.findings)
	if err != nil {
		if again, unknown := r.text(ctx); unknown == nil {
			fmt.Fprintf(os.Stdout, "seed %d; again: %s\n", r.Seed, again)
		}
	}
	return err
}

func (r *run) writePage(ctx context.Context, h *history.History, findings []judge.Finding) error {
	c := r.faultsCommand
	command, err := c.text(ctx)
	if err != nil {
		return err
	}
	from, err := origin(ctx, c.Server, command)
	if err != nil {
		return err
	}
	return report.Write(c.Out, report.Page{
		Origin: from, Chapter: c.chapter(), Minutes: int(math.Ceil(c.Minutes)), Processes: c.Processes, History: h, Findings: findings,
		Missed: missedOf(r.scene),
	})
}

// missedOf says which faults were not injected, and why.
func missedOf(scene *faults.Scene) []string {
	var missed []string
	for _, m := range scene.Missed() {
		missed = append(missed, fmt.Sprintf("%s: %v", m.Name, m.Why))
	}
	return missed
}

// text is the command that repeats the run.
func (c *faultsCommand) text(ctx context.Context) (string, error) {
	flags := []string{fmt.Sprintf("--minutes %g --processes %d --agents %d --faults %s --seed %d", c.Minutes, c.Processes, c.Agents,
		c.Faults, c.Seed)}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--tls", c.TLS}, {"--failover", c.Failover}, {"--clocks", c.Clocks}} {
		if flag.set {
			flags = append(flags, flag.name)
		}
	}
	command := "make prove PROVEFLAGS='" + strings.Join(flags, " ") + "'"
	if c.Older == "" {
		return command, nil
	}
	older, err := version(ctx, c.Older)
	if err != nil {
		return "", err
	}
	return command + " OLDER=" + older[1], nil
}

// chapter is the chapter of the page that the run is about.
func (c *faultsCommand) chapter() string {
	switch {
	case c.Older != "":
		return report.UpgradeChapter
	case c.Failover:
		return report.FailoverChapter
	}
	return report.FaultsChapter
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
		return verdict(h, live.Judge(h))
	}
	return verdict(h, judge.Judge(h))
}

// verdict prints what the judge found, with the requests and events that belong to it. Any violation is errBroken.
func verdict(h *history.History, findings []judge.Finding) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%d looked at\t%d excused\t%d violations\t%s\n", f.Name, f.Looked, f.Excused, f.Count, f.Promise)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	evidence.Print(os.Stdout, evidence.Of(h, findings))
	if n := judge.Violations(findings); n > 0 {
		return fmt.Errorf("%d times: %w", n, errBroken)
	}
	return nil
}
