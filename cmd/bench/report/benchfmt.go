package report

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/load"
)

// writer writes lines in the format of Go benchmarks.
type writer struct {
	out    *benchfmt.Writer
	config []benchfmt.Config
	err    error
}

func (d *Data) writer(to io.Writer) *writer {
	w := &writer{out: benchfmt.NewWriter(to)}
	for _, c := range []struct{ key, value string }{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {"pkg", "stoa/cmd/bench"}, {"cpu", d.Machine.Processor},
		{"commit", d.Commit}, {"date", d.Date.UTC().Format("2006-01-02T15:04:05Z")}, {"postgres", d.Postgres},
	} {
		w.config = append(w.config, benchfmt.Config{Key: c.key, Value: []byte(c.value), File: true})
	}
	return w
}

func (w *writer) line(name string, iterations int, values ...benchfmt.Value) {
	if w.err == nil {
		full := fmt.Sprintf("%s%s-%d", strings.ToUpper(name[:1]), name[1:], runtime.NumCPU())
		w.err = w.out.Write(&benchfmt.Result{Config: w.config, Name: benchfmt.Name(full), Iters: iterations, Values: values})
	}
}

func (w *writer) results(label string, all []compare.Result) {
	for _, r := range all {
		w.line(fmt.Sprintf("%s/conns=%d%s/by=%s", r.Scenario, r.Connections, label, r.Variant), r.Ops,
			benchfmt.Value{Value: 1e9 / r.PerSecond, Unit: "ns/op"},
			benchfmt.Value{Value: r.PerSecond, Unit: "ops/s"},
			benchfmt.Value{Value: float64(r.P50), Unit: "p50-ns"},
			benchfmt.Value{Value: float64(r.P99), Unit: "p99-ns"},
			benchfmt.Value{Value: float64(r.ProcessTime), Unit: "cpu-ns/op"},
			benchfmt.Value{Value: float64(r.PostgresTime), Unit: "postgres-ns/op"},
			benchfmt.Value{Value: r.Bytes, Unit: "B/op"},
			benchfmt.Value{Value: r.Objects, Unit: "allocs/op"})
	}
}

// latencies writes a line for each round.
func (w *writer) latencies(name string, rounds [][]time.Duration) {
	for _, round := range rounds {
		w.line(name, len(round), benchfmt.Value{Value: float64(load.Quantile(round, 0.5)), Unit: "p50-ns"},
			benchfmt.Value{Value: float64(load.Quantile(round, 0.99)), Unit: "p99-ns"})
	}
}

// Scenarios writes every round of the comparisons.
func (d *Data) Scenarios(to io.Writer) error {
	w := d.writer(to)
	w.results("", d.Results)
	return w.err
}

// GrowthRounds writes every round of the server alone at each size.
func (d *Data) GrowthRounds(to io.Writer) error {
	w := d.writer(to)
	for _, size := range d.Growth {
		w.results(fmt.Sprintf("/agents=%d", size.Agents), size.Results)
	}
	return w.err
}

// Parts writes every round of the measurements of the server alone: memory, sockets, searches, reconciliation.
func (d *Data) Parts(to io.Writer) error {
	w := d.writer(to)
	for _, m := range d.AtRest {
		w.line("atRest", 1, benchfmt.Value{Value: float64(m.Resident), Unit: "resident-B"},
			benchfmt.Value{Value: float64(m.Anonymous), Unit: "anonymous-B"})
	}
	for _, bytes := range d.Idle.Each {
		w.line("idleSocket", d.Idle.Connections, benchfmt.Value{Value: bytes, Unit: "resident-B/op"})
	}
	for _, bytes := range d.Polls.Each {
		w.line("waitingPoll", d.Polls.Connections, benchfmt.Value{Value: bytes, Unit: "resident-B/op"})
	}
	for i, full := range d.Silent.Full {
		cores := (full - d.Silent.None[i]).Seconds() / d.Silent.Length.Seconds()
		w.line("silentSockets", d.Silent.Sockets, benchfmt.Value{Value: cores, Unit: "cores"})
	}
	for _, m := range d.Deliveries {
		w.latencies(fmt.Sprintf("delivery/rate=%d", m.PerSecond), m.Rounds)
	}
	for _, s := range d.Searches {
		w.latencies("searchTasks/text="+strings.ReplaceAll(s.Text, " ", "_"), s.Rounds)
	}
	for _, m := range d.Isolation {
		for i, quiet := range m.Quiet {
			w.line(fmt.Sprintf("me/conns=%d/searches=none", m.Connections), 1, benchfmt.Value{Value: float64(quiet), Unit: "p99-ns"})
			w.line(fmt.Sprintf("me/conns=%d/searches=many", m.Connections), 1, benchfmt.Value{Value: float64(m.Busy[i]), Unit: "p99-ns"})
		}
	}
	for _, slice := range d.Ledger.Slices {
		w.line("reconciliationSlice", 1, benchfmt.Value{Value: float64(slice), Unit: "ns/op"})
	}
	return w.err
}
