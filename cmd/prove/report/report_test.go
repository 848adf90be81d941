package report_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/report"
)

// run has a fault during which one of two requests fails, and later a graceful one.
func run() *report.Run {
	return &report.Run{
		History: &history.History{
			Seed: 42, Length: 10 * time.Minute, Members: make([]history.Member, 1200),
			Faults: []history.Fault{
				{Name: "rolling restart", Target: "server 2", Start: 3 * time.Minute, Lifted: 182 * time.Second, End: 190 * time.Second, Graceful: true},
				{Name: "kill", Target: "server 1", Start: 20 * time.Second, Lifted: 22 * time.Second, End: 25500 * time.Millisecond},
			},
			Attempts: []history.Attempt{
				{Start: 21 * time.Second, End: 22 * time.Second, Status: history.Unanswered}, {Start: 21 * time.Second, End: 22 * time.Second, Status: 200},
			},
			Deliveries: []history.Delivery{{Connection: 1}, {Connection: 2}, {Connection: 1}},
		},
		Findings: []judge.Finding{
			{Name: "orders", Promise: "Orders are | right (§3.1).", Looked: 1234567, Excused: 1234},
			{Name: "ledger", Promise: "The ledger balances (§2.5).", Looked: 1, Count: 21, Violations: []string{"first\nline", "second"}},
		},
		Minutes: 10, Processes: 3, Missed: []string{"disk-full: no root"},
	}
}

// A result is kept as JSON, and the page has the same.
func TestResult(t *testing.T) {
	t.Parallel()
	made := &report.Result{
		Title: "Faults", Date: time.Date(2026, 11, 23, 4, 5, 0, 0, time.UTC), Version: "abc123", Command: "make prove", Machine: "2 cores",
	}
	run().Fill(made)
	folder := t.TempDir()
	require.NoError(t, made.Write(folder))
	raw, err := os.ReadFile(filepath.Join(folder, "result.json"))
	require.NoError(t, err)
	kept := new(report.Result)
	require.NoError(t, json.Unmarshal(raw, kept))
	require.Equal(t, made, kept)
	text, err := os.ReadFile(filepath.Join(folder, "result.md"))
	require.NoError(t, err)
	for _, part := range []string{
		"# Faults\n\n**21 violations** were found.\n", "| date | 23 November 2026, 04:05 UTC |", "| server | abc123 |", "| seed | 42 |",
		"| agents | 1,200 |", "| requests | 2 |", "| 3 on 2 connections |", "\n## Checks\n",
		"| kill | server 1 | 0:20 | 2.0 s | 3.5 s | 1 |  |\n| rolling restart | server 2 | 3:00 | 2.0 s | 8.0 s | 0 | graceful |",
		"| disk-full: no root |", "not injected", `| orders | Orders are \| right (§3.1). | 1,234,567 | 1,234 | 0 |`,
		"| ledger | first line |\n| ledger | second |\n",
	} {
		require.Contains(t, string(text), part)
	}
	require.NotContains(t, string(text), "\n\n\n")
	require.Error(t, made.Write(filepath.Join(folder, "none")))

	empty := new(report.Result)
	(&report.Run{History: new(history.History)}).Fill(empty)
	require.Contains(t, empty.Verdict, "No violation")
}

func TestProgressLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*report.Interval+time.Second)
		defer cancel()
		var out strings.Builder
		report.NewProgress(history.NewRecorder(1), func() string { return "" }).Run(ctx, &out)
		rest := "      0 requests/s  0 failed  0 events\n"
		require.Equal(t, "  0:05"+rest+"  0:10"+rest, out.String())
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	recorder := history.NewRecorder(1)
	fault := ""
	p := report.NewProgress(recorder, func() string { return fault })
	recorder.Record(func(h *history.History) {
		h.Attempts = append(h.Attempts, history.Attempt{Status: 200}, history.Attempt{})
		h.Deliveries = make([]history.Delivery, 1500)
	})
	require.Regexp(t, `^  0:00  +\d+ requests/s  1 failed  1,500 events$`, p.Line())
	fault = "kill of server 1"
	recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, history.Attempt{Status: 503}) })
	require.Regexp(t, `  2 failed  1,500 events  fault: kill of server 1$`, p.Line())
}
