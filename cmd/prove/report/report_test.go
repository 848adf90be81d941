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

// record has a fault during which one of two requests fails, and a violation.
func record() (*history.History, []judge.Finding) {
	return &history.History{
			Seed: 42, Length: 10 * time.Minute,
			Faults: []history.Fault{
				{Name: "kill", Target: "server 1", Start: 20 * time.Second, Lifted: 22 * time.Second, End: 25500 * time.Millisecond},
			},
			Attempts: []history.Attempt{
				{Start: 21 * time.Second, End: 22 * time.Second, Status: history.Unanswered}, {Start: 21 * time.Second, End: 22 * time.Second, Status: 200},
			},
		}, []judge.Finding{
			{Name: "orders", Promise: "Orders are | right (§3.1).", Looked: 12, Excused: 3, Count: 2, Violations: []string{"first\nline", "second"}},
		}
}

// A result is kept as JSON, and the page has the same.
func TestResult(t *testing.T) {
	t.Parallel()
	made := &report.Result{Title: "Faults", Date: time.Date(2026, 11, 23, 4, 5, 0, 0, time.UTC), Version: "abc123", Command: "make prove", Machine: "2 cores"}
	h, findings := record()
	made.Fill(h, findings, []string{"disk-full: no root"})
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
		"# Faults\n\n**2 violations** were found.\n", "| date | 23 November 2026, 04:05 UTC |", "| server | abc123 |", "| seed | 42 |",
		"| kill | server 1 | 20.0 s | 2.0 s | 3.5 s | 1 |  |\n| disk-full: no root |", `| orders | Orders are \| right (§3.1). | 12 | 3 | 2 |`,
		"| orders | first line |\n| orders | second |\n",
	} {
		require.Contains(t, string(text), part)
	}
	require.NotContains(t, string(text), "\n\n\n")
}

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		recorder := history.NewRecorder(1)
		recorder.Record(func(h *history.History) {
			h.Attempts = append(h.Attempts, history.Attempt{Status: 200}, history.Attempt{})
			h.Deliveries = make([]history.Delivery, 3)
		})
		recorder.Begin(history.Fault{Name: "kill"}, history.Fault{Name: "tear"})
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		var out strings.Builder
		report.Progress(ctx, recorder, &out)
		require.Equal(t, "    5s      0 requests/s  1 failed  3 events  kill + tear\n", out.String())
	})
}
