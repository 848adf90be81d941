package report

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"golang.org/x/perf/benchfmt"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/ws"
)

// writer writes lines in the format of Go's benchmarks.
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
		w.err = w.out.Write(&benchfmt.Result{
			Config: w.config, Name: benchfmt.Name(fmt.Sprintf("%s%s-%d", strings.ToUpper(name[:1]), name[1:], runtime.NumCPU())), Iters: iterations, Values: values,
		})
	}
}

func (w *writer) results(label string, all []compare.Result) {
	for _, r := range all {
		w.line(fmt.Sprintf("%s/conns=%d%s/by=%s", r.Path, r.Connections, label, r.Contestant), r.Ops,
			benchfmt.Value{Value: 1e9 / r.PerSecond, Unit: "ns/op"},
			benchfmt.Value{Value: r.PerSecond, Unit: "ops/s"},
			benchfmt.Value{Value: float64(r.P50), Unit: "p50-ns"},
			benchfmt.Value{Value: float64(r.P99), Unit: "p99-ns"},
			benchfmt.Value{Value: float64(r.Process), Unit: "cpu-ns/op"},
			benchfmt.Value{Value: float64(r.Postgres), Unit: "postgres-ns/op"},
			benchfmt.Value{Value: r.Bytes, Unit: "B/op"},
			benchfmt.Value{Value: r.Objects, Unit: "allocs/op"})
	}
}

// Rounds writes every turn of the contest.
func (d *Data) Rounds(to io.Writer) error {
	w := d.writer(to)
	w.results("", d.Results)
	return w.err
}

// GrowthRounds writes every turn of the server alone at each size.
func (d *Data) GrowthRounds(to io.Writer) error {
	w := d.writer(to)
	for _, size := range d.Growth {
		w.results(fmt.Sprintf("/agents=%d", size.Agents), size.Results)
	}
	return w.err
}

// Channel writes what the event channel was measured at.
func (d *Data) Channel(to io.Writer) error {
	w := d.writer(to)
	for _, m := range d.Deliveries {
		w.delivery(m)
	}
	if d.Idle.Sockets > 0 {
		w.line("idleSocket", d.Idle.Sockets, benchfmt.Value{Value: d.Idle.BytesPerSocket(), Unit: "resident-B/op"})
	}
	if d.Silent.Sockets > 0 {
		w.line("silentSockets", d.Silent.Sockets, benchfmt.Value{Value: d.Silent.Share(), Unit: "cores"})
	}
	if d.Rest.Resident > 0 {
		w.line("atRest", 1, benchfmt.Value{Value: float64(d.Rest.Resident), Unit: "resident-B"},
			benchfmt.Value{Value: float64(d.Rest.Proportional), Unit: "proportional-B"})
	}
	return w.err
}

func (w *writer) delivery(m ws.Delivery) {
	w.line(fmt.Sprintf("delivery/rate=%d", m.PerSecond), m.Ops(),
		benchfmt.Value{Value: float64(m.Quantile(half)), Unit: "p50-ns"},
		benchfmt.Value{Value: float64(m.Quantile(most)), Unit: "p99-ns"})
}
