package report_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/cmd/bench/machine"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/cmd/prove/report"
)

// run is a run of ten minutes with a fault every 40 seconds, during which every second request fails.
func run() *history.History {
	h := &history.History{Seed: 42, Length: 10 * time.Minute, Members: make([]history.Member, 1200)}
	names := []string{"kill", "freeze", "partition", "database failover", "rolling restart"}
	for i := range 14 {
		start := time.Duration(20+40*i) * time.Second
		f := history.Fault{
			Name: names[i%len(names)], Target: fmt.Sprint("server ", i%3+1),
			Start: start, Lifted: start + 2*time.Second, End: start + 5500*time.Millisecond,
			Failover: i%len(names) == 3, Graceful: i%len(names) == 4,
		}
		h.Faults = append([]history.Fault{f}, h.Faults...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for at := time.Duration(0); at < h.Length; at += 5*time.Millisecond + time.Duration(random.IntN(9))*time.Millisecond {
		a := history.Attempt{Start: at, End: at + 4*time.Millisecond, Status: 200}
		for _, f := range h.Faults {
			if !f.Graceful && f.Start <= at && at <= f.End && random.IntN(2) == 0 {
				a.Status = history.Unanswered
			}
		}
		h.Attempts = append(h.Attempts, a)
	}
	for i := range 2500 {
		h.Deliveries = append(h.Deliveries, history.Delivery{Connection: i % 7})
	}
	return h
}

func write(t *testing.T, p report.Page) (page, chart string) {
	t.Helper()
	folder := t.TempDir()
	if keep := os.Getenv("PROOF_FOLDER"); keep != "" { // to look at them
		folder = keep
	}
	require.NoError(t, report.Write(folder, p))
	text, err := os.ReadFile(filepath.Join(folder, "proof.md"))
	require.NoError(t, err)
	drawn, err := os.ReadFile(filepath.Join(folder, "proof.svg"))
	require.NoError(t, err)
	return string(text), string(drawn)
}

func TestPage(t *testing.T) {
	t.Parallel()
	h := run()
	p := report.Page{
		Origin: report.Origin{
			Date: time.Date(2026, 11, 23, 4, 5, 0, 0, time.UTC), Version: "abc123", Command: "make prove SEED=42",
			Machine: machine.Description{Processor: "A processor", Cores: 2, MemoryGiB: 8, Kernel: "6.1"},
		},
		Chapter: report.FaultsChapter, Minutes: 10, Processes: 3, History: h,
		Findings: []judge.Finding{
			{Name: "orders", Promise: "Orders are | right (§3.1).", Looked: 1234567, Excused: 1234},
			{Name: "leaks", Promise: "Nothing leaks (§11)."},
			{Name: "ledger", Promise: "The ledger balances (§2.5).", Looked: 1},
		},
	}
	text, _ := write(t, p)
	require.True(t, strings.HasPrefix(text, "# Proof\n"))
	for _, part := range []string{
		"23 November 2026, 04:05 UTC with abc123", "**No violation** was found by any of the 3 checks.",
		"| seed | 42 |", "10 minutes of load; 10:00 altogether", "| servers | 3 processes |", "| agents | 1,200 |",
		"2,500 received on 7 connections, 0 acknowledged", "A processor, 2 cores", "](proof.svg)",
		"| 1 | kill | server 1 | 0:20 | 2.0 s | 3.5 s |", "| 5 | rolling restart | server 2 | 3:00 | 2.0 s | 3.5 s | 0 | graceful |",
		`| orders | Orders are \| right (§3.1). | 1,234,567 | 1,234 | 0 |`, "| leaks | Nothing leaks (§11). | **nothing** | 0 | 0 |",
		"```sh\nmake prove SEED=42\n```",
	} {
		require.Contains(t, text, part)
	}
	require.NotContains(t, text, "### Violations")

	p.Findings[2].Count, p.Findings[2].Violations = 21, []string{strings.Repeat("much ", 100), "second"}
	text, _ = write(t, p)
	for _, part := range []string{
		"**21 violations** were found.",
		"#### ledger\n\nThe ledger balances (§2.5). The first 2 of 21:\n\n```text\nmuch", "\nsecond\n```\n",
		"| ledger | The ledger balances (§2.5). | 1 | 0 | **21** |",
	} {
		require.Contains(t, text, part)
	}
	quoted := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			quoted = !quoted
		}
		require.True(t, quoted || strings.HasPrefix(line, "|") || utf8.RuneCountInString(line) <= 131, line)
	}
	require.NotContains(t, text, "\n\n\n")
}

func TestChart(t *testing.T) {
	t.Parallel()
	h := run()
	h.Faults[0].Name = "<server> & co"
	_, chart := write(t, report.Page{Chapter: report.FaultsChapter, History: h})
	counts := make(map[string]int)
	decoder := xml.NewDecoder(strings.NewReader(chart))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
		}
	}
	require.Equal(t, 15, counts["title"], "the chart's and each fault's")
	require.Equal(t, 1, counts["desc"])
	require.Contains(t, chart, "14 &lt;server&gt; &amp; co</text>")
	require.Contains(t, chart, "1 kill server 1 from 0:20 to 0:26;")
	require.Contains(t, chart, "prefers-color-scheme: dark")
	require.Equal(t, 2, strings.Count(chart, `class="band graceful" x="`)-1, "without the legend's")
	for _, none := range []string{"NaN", "Inf", "%!", "<no value>"} {
		require.NotContains(t, chart, none)
	}
}

// A run that recorded nothing has a page, too.
func TestEmptyRun(t *testing.T) {
	t.Parallel()
	text, chart := write(t, report.Page{Chapter: report.FaultsChapter, History: new(history.History)})
	require.Contains(t, text, "0 were answered")
	require.Contains(t, chart, "Faults: none.")
	require.NotContains(t, chart, "NaN")
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	require.Error(t, report.Write(filepath.Join(t.TempDir(), "none"), report.Page{Chapter: report.FaultsChapter, History: new(history.History)}))
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
