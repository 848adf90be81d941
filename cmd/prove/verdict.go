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

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/report"
)

var errBroken = errors.New("promises were broken")

// conclude judges a run, and keeps its history and writes the page where that is wanted.
func (c *faultsCommand) conclude(ctx context.Context, h *history.History) error {
	if c.History != "" {
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.History, text, 0o600); err != nil {
			return err
		}
	}
	findings := judge.Judge(h)
	if c.Out != "" {
		if err := c.writePage(ctx, h, findings); err != nil {
			return err
		}
	}
	return verdict(findings)
}

func (c *faultsCommand) writePage(ctx context.Context, h *history.History, findings []judge.Finding) error {
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
	})
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
	return verdict(judge.Judge(h))
}

// verdict prints what the judge found. Any violation is errBroken.
func verdict(findings []judge.Finding) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%d looked at\t%d violations\t%s\n", f.Name, f.Looked, f.Count, f.Promise)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range findings {
		for _, violation := range f.Violations {
			fmt.Fprintf(os.Stdout, "%s: %s\n", f.Name, violation)
		}
	}
	if n := judge.Violations(findings); n > 0 {
		return fmt.Errorf("%d times: %w", n, errBroken)
	}
	return nil
}
