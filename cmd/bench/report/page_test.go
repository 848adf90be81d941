package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/ledger"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/search"
	"stoa/cmd/bench/ws"
)

// round is a result of one scenario with a throughput.
func round(variant string, connections, n int, perSecond float64) compare.Result {
	return compare.Result{
		Scenario: "me", Variant: variant, Connections: connections, Round: n, Ops: int(perSecond), PerSecond: perSecond,
		P50: time.Duration(1e9 / perSecond), P99: time.Duration(2e9 / perSecond),
		ProcessTime: 80 * time.Microsecond, PostgresTime: 40 * time.Microsecond,
		Objects: 100, Bytes: 2048,
	}
}

func sample() *Data {
	latencies := [][]time.Duration{{2 * time.Millisecond}}
	d := &Data{
		Date: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), Took: 12 * time.Minute, Commit: "v1", Go: "go1", Postgres: "15",
		Plan: compare.Plan{Rounds: 2, Length: time.Second}, Agents: 1000, Posts: 2000, GrowthConnections: 16, GCPercent: 300,
		AtRest:     []machine.Memory{{Resident: 60_000_000, Anonymous: 39_000_000}},
		Idle:       ws.Idle{Connections: 1000, Each: []float64{8000, 8000}},
		Polls:      ws.Idle{Connections: 1000, Each: []float64{6000, 6000}},
		Silent:     ws.Silent{Sockets: 1000, Length: time.Second, None: []time.Duration{0}, Idle: []time.Duration{0}, Full: []time.Duration{30 * time.Millisecond}},
		Deliveries: []ws.Delivery{{PerSecond: 50, Rounds: latencies}, {PerSecond: 500, Rounds: latencies}},
		Tasks:      50_000,
		Searches: []search.Text{
			{Text: "quick", Rounds: latencies}, {Text: "slow", Rounds: [][]time.Duration{{200 * time.Millisecond}}},
		},
		Isolation: []search.Isolation{
			{Connections: 16, Quiet: []time.Duration{time.Millisecond}, Busy: []time.Duration{2 * time.Millisecond}, PerSecond: []float64{50}},
			{Connections: 1, Quiet: []time.Duration{time.Millisecond}, Busy: []time.Duration{4 * time.Millisecond}, PerSecond: []float64{50}},
		},
		Ledger: ledger.Reconciliation{Entries: 5_000_000, Slices: []time.Duration{time.Second / 4, time.Second / 2}},
	}
	for n := 1; n <= 2; n++ {
		for connections, share := range map[int]float64{1: 0.5, 16: 0.9} {
			d.Results = append(d.Results, round(compare.Server, connections, n, 10_000*share), round(compare.Minimal, connections, n, 10_000),
				round(compare.Direct, connections, n, 20_000))
		}
	}
	written, plain := round(compare.Server, 16, 1, 5_000), round(compare.Plain, 16, 1, 10_000)
	written.Scenario, plain.Scenario = "register", "register"
	d.Results = append(d.Results, written, plain)
	d.Growth = []Size{
		{Agents: 1000, Posts: 2000, Results: []compare.Result{round(compare.Server, 16, 1, 5000)}},
		{Agents: 50_000, Posts: 100_000, Results: []compare.Result{round(compare.Server, 16, 1, 4000)}},
	}
	d.Growth[1].Results[0].PostgresTime *= 2
	return d
}

func TestPage(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Results = sorted(d.Results)
	var b strings.Builder
	require.NoError(t, d.Page(&b))
	for _, want := range []string{
		"| `GET /bots/me`: at least 0.80 of the minimal server's throughput | 0.900 ± 0.000 at 16 connections | yes |",
		"| order cycle: at least 0.80 of the minimal server's throughput |  | not measured |",
		"| `POST /bots/register`: at least 0.6 of the throughput on plain tables | 0.50 at 16 connections | **no** |",
		"| `POST /bots/register` | 16 | 5,000 | – | – | – | – | 0.50 | 200 µs | 400 µs |",
		"| response → event, median at 50 a second: under 0.6 ms | 2.0 ms | **no** |",
		"| response → event, median at 500 a second: under 0.6 ms | 2.0 ms | **no** |",
		"| an idle socket: at most 12 KB | 8.00 ± 0.00 KB | yes |",
		"| a poll that waits: at most the memory of an idle socket | 6.00 ± 0.00 KB, a socket 8.00 ± 0.00 KB | yes |",
		"| 1,000 sockets that acknowledge nothing: under 2 % of a core | 3.0 % | **no** |",
		"at most 48 MB of anonymous memory | 39 MB | yes |",
		"p99 under 150 ms | 200 ms for `slow` | **no** |",
		"within 3 times the quiet one | 2.0 / 4.0 at 16 / 1 connections | **only at 16 connections** |",
		"| 5,000,000 entries in 750 ms, the slowest slice in 500 ms | yes |",
		"| `GET /bots/me` | 16 | 9,000 ± 0 | 10,000 ± 0 | 20,000 ± 0 | 0.900 ± 0.000 | 0.450 ± 0.000 | – | 111 ± 0 µs | 222 ± 0 µs |",
		"| `GET /bots/me` | a second | 5,000 | 4,000 |",
		"`GET /bots/me` by 2.0 times",
		"GOGC=300",
	} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "NaN")
}

func TestEmptyPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, new(Data).Page(&b))
	require.NotContains(t, b.String(), "## Memory")
	require.NotContains(t, b.String(), "## Growth")
	require.Contains(t, b.String(), "not measured")
}

func TestFilesAreReadByBenchstat(t *testing.T) {
	t.Parallel()
	d := sample()
	for name, write := range map[string]func(*strings.Builder) error{
		"scenarios": func(b *strings.Builder) error { return d.Scenarios(b) },
		"growth":    func(b *strings.Builder) error { return d.GrowthRounds(b) },
		"parts":     func(b *strings.Builder) error { return d.Parts(b) },
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
