package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/ws"
)

// round is a result of one path at a throughput.
func round(contestant string, connections, n int, perSecond float64) compare.Result {
	return compare.Result{
		Path: "me", Contestant: contestant, Connections: connections, Round: n, Ops: int(perSecond), PerSecond: perSecond,
		P50: time.Duration(1e9 / perSecond), P99: time.Duration(2e9 / perSecond), Process: 80 * time.Microsecond, Postgres: 40 * time.Microsecond,
		Objects: 100, Bytes: 2048,
	}
}

func sample() *Data {
	d := &Data{
		Date: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), Took: 12 * time.Minute, Commit: "v1", Go: "go1", Postgres: "15",
		Plan: compare.Plan{Rounds: 2, Length: time.Second}, Agents: 1000, Posts: 2000, GrownConnections: 16,
		Rest: machine.Memory{Resident: 40_000_000, Proportional: 39_000_000},
		Idle: ws.Idle{Sockets: 1000, Before: machine.Memory{Resident: 1_000_000}, After: machine.Memory{Resident: 9_000_000}},
		Deliveries: []ws.Delivery{
			{PerSecond: 50, Sample: load.Sample{Elapsed: time.Second, Latencies: []time.Duration{2 * time.Millisecond}}},
			{PerSecond: 500, Sample: load.Sample{Elapsed: time.Second, Latencies: []time.Duration{2 * time.Millisecond}}},
		},
	}
	for n := 1; n <= 2; n++ {
		for connections, share := range map[int]float64{1: 0.5, 16: 0.9} {
			d.Results = append(d.Results, round(compare.Server, connections, n, 10_000*share), round(compare.Minimal, connections, n, 10_000),
				round(compare.SQL, connections, n, 20_000))
		}
	}
	d.Growth = []Size{
		{Agents: 1000, Posts: 2000, Results: []compare.Result{round(compare.Server, 16, 1, 5000)}},
		{Agents: 50_000, Posts: 100_000, Results: []compare.Result{round(compare.Server, 16, 1, 4000)}},
	}
	d.Growth[1].Results[0].Postgres *= 2
	return d
}

func TestPage(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Results = sorted(d.Results)
	var b strings.Builder
	require.NoError(t, d.Page(&b))
	for _, want := range []string{
		"| `GET /bots/me`: at least 0.8 of the minimal server | 0.50 / 0.90 at 1 / 16 connections | only at 16 connections |",
		"| order cycle: at least 0.5 of the same work in SQL functions |  | not measured |",
		"| answered → event, median at 50 a second: under 1 ms | 2.00 ms | **no** |",
		"| answered → event, median at 500 a second: under 3 ms | 2.00 ms | yes |",
		"| an idle socket: at most 12 KB | 8.0 KB | yes |",
		"| `GET /bots/me` | 16 | 9,000 | 10,000 | 20,000 | 0.90 (0.90–0.90) | 0.45 (0.45–0.45) | 111 µs | 222 µs |",
		"| `GET /bots/me` | a second | 5,000 | 4,000 |",
		"`GET /bots/me` by 2.0 times",
	} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "NaN")
}

func TestAnEmptyPageShowsNoTables(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, new(Data).Page(&b))
	require.NotContains(t, b.String(), "## Memory")
	require.NotContains(t, b.String(), "## As it grows")
	require.Contains(t, b.String(), "not measured")
}

func TestBenchstatReadsTheRounds(t *testing.T) {
	t.Parallel()
	d := sample()
	for name, write := range map[string]func(*strings.Builder) error{
		"rounds":  func(b *strings.Builder) error { return d.Rounds(b) },
		"growth":  func(b *strings.Builder) error { return d.GrowthRounds(b) },
		"channel": func(b *strings.Builder) error { return d.Channel(b) },
	} {
		var b strings.Builder
		require.NoError(t, write(&b), name)
		read := benchfmt.NewReader(strings.NewReader(b.String()), name)
		lines := 0
		for read.Scan() {
			result, ok := read.Result().(*benchfmt.Result)
			require.True(t, ok, "%s: %s", name, read.Result())
			require.NotEmpty(t, result.Values)
			lines++
		}
		require.NoError(t, read.Err(), name)
		require.NotZero(t, lines, name)
	}
}

// sorted puts results into the order in which a run makes them.
func sorted(all []compare.Result) []compare.Result {
	slices.SortStableFunc(all, func(a, b compare.Result) int { return a.Connections - b.Connections })
	return all
}
