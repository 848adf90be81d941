// Package soak judges whether servers under a steady load hold on to anything. It samples what they and their database hold, and judges
// by its robust growth in an hour whatever must be flat.
package soak

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/audit"
	"stoa/cmd/prove/report"
	"stoa/cmd/prove/testbed"
)

// interval is the time between two samples.
const interval = 15 * time.Second

// sample holds the figures of a moment by their names.
type sample struct {
	at     time.Duration
	values map[string]float64
}

// measures are the figures that must be flat. Those of each server have its name behind them.
var measures = []struct {
	name  string
	each  bool
	bound bound
}{
	{"anonymous memory in MiB", true, bound{8, 0.1}},
	{"goroutines", true, bound{20, 0.1}},
	{"open files", true, bound{20, 0.1}},
	{"database_connections", false, bound{4, 0.1}},
	{"events without an ack", false, bound{20, 0.1}},
	{"jobs to be done", false, bound{5, 0.1}},
	{"socket_slots", false, bound{10, 0.02}},
	{"advisory_locks", false, bound{4, 0}},
	{"upload_reservations", false, bound{2, 0}},
	{"attachment_leases", false, bound{2, 0}},
	{"temporary_files", false, bound{2, 0}},
	{"rows of rate_windows", false, bound{200, 0.1}},
	{"rows of processes", false, bound{4, 0}},
	{"largest share of dead rows in a table", false, bound{0.5, 0}},
}

// queries are the figures of the database that package audit does not have. Autovacuum comes to a table of 1,000 rows or more.
var queries = map[string]string{
	"events without an ack": "SELECT count(*) FROM events",
	"jobs to be done":       "SELECT count(*) FROM river_job WHERE finalized_at IS NULL",
	"rows of rate_windows":  "SELECT count(*) FROM rate_windows",
	"rows of processes":     "SELECT count(*) FROM processes",
	"largest share of dead rows in a table": `SELECT coalesce(max(n_dead_tup::float / (n_live_tup + n_dead_tup + 1000)), 0)
		FROM pg_stat_user_tables`,
}

// Watch samples a bed.
type Watch struct{ samples []sample }

// Run takes samples until ctx ends. It fails if a sample does. Trends may be called after it.
func (w *Watch) Run(ctx context.Context, bed *testbed.Bed) error {
	begun := time.Now()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		values, err := take(ctx, bed)
		if ctx.Err() != nil {
			return nil // the run is over
		}
		if err != nil {
			return fmt.Errorf("sampling: %w", err)
		}
		w.samples = append(w.samples, sample{time.Since(begun), values})
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func take(ctx context.Context, bed *testbed.Bed) (map[string]float64, error) {
	values, err := audit.Holdings(ctx, bed)
	if err != nil {
		return nil, err
	}
	for name, statement := range queries {
		var n float64
		if err := bed.DB.QueryRowContext(ctx, statement).Scan(&n); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = n
	}
	for _, server := range bed.Servers {
		metrics, err := server.Metrics(ctx)
		if err != nil {
			return nil, err
		}
		memory, err := anonymous(server.PID())
		if err != nil {
			return nil, err
		}
		values["anonymous memory in MiB of "+server.Name] = memory
		values["goroutines of "+server.Name] = metrics["go_goroutines"]
		values["open files of "+server.Name] = metrics["process_open_fds"]
	}
	return values, nil
}

// anonymous is the memory of a process that belongs to no file, in MiB.
func anonymous(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	rest, _, _ = strings.Cut(rest, "kB")
	kib, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
	return kib / 1024, err
}

// Trends judges the samples after the warm-up of a run of that length.
func (w *Watch) Trends(length time.Duration) (all []Trend) {
	if len(w.samples) == 0 {
		return nil
	}
	rest := steady(w.samples, length)
	for _, m := range measures {
		for _, name := range slices.Sorted(maps.Keys(rest[0].values)) {
			if !m.each && name == m.name || m.each && strings.HasPrefix(name, m.name+" of ") {
				all = append(all, newTrend(name, rest, func(s sample) float64 { return s.values[name] }, m.bound))
			}
		}
	}
	return all
}

// Table shows trends, and the names of those that grow.
func Table(trends []Trend) (t report.Table, grow []string) {
	t = report.Table{
		Title: "What must be flat", Head: []string{"figure", "first fifth", "middle", "last fifth", "growth an hour", "allowed", "verdict"},
	}
	for _, trend := range trends {
		verdict := "flat"
		switch {
		case trend.Grows():
			verdict, grow = "**grows**", append(grow, trend.Name)
		case !trend.Flat():
			verdict = "too short"
		}
		row := []string{trend.Name}
		for _, figure := range []float64{trend.Start, trend.Middle, trend.End, trend.Slope, trend.Bound} {
			row = append(row, strconv.FormatFloat(figure, 'f', 2, 64))
		}
		t.Rows = append(t.Rows, append(row, verdict))
	}
	return t, grow
}
