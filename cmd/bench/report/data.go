// Package report turns measurements into docs/benchmarks.md and into files for benchstat. It performs no I/O besides the given
// writers.
package report

import (
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/ledger"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/search"
	"stoa/cmd/bench/ws"
)

// Data is everything that one run measured. What it did not measure is empty.
type Data struct {
	Date          time.Time
	Took          time.Duration
	Commit, Go    string
	Postgres      string
	Machine       machine.Description
	Plan          compare.Plan
	Agents, Posts int
	// GCPercent is the GOGC of the server and the minimal server.
	GCPercent int
	Results   []compare.Result
	Growth    []Size
	// AtRest are readings of the memory of a server that has done nothing yet.
	AtRest    []machine.Memory
	AfterLoad machine.Memory
	// Idle are idle sockets, Polls polls that wait.
	Idle, Polls       ws.Idle
	Silent            ws.Silent
	Deliveries        []ws.Delivery
	Tasks             int
	Searches          []search.Text
	Isolation         []search.Isolation
	Ledger            ledger.Reconciliation
	GrowthConnections int
	// Differences are the JSON members that only one of the server and the minimal server answers.
	Differences []string
	// Failures are the errors of measurements that failed.
	Failures []string
}

// Size holds the measurements of the server alone with a number of agents and posts.
type Size struct {
	Agents, Posts int
	Results       []compare.Result
}

// figure picks a figure out of a result; times are in microseconds.
type figure func(compare.Result) float64

func perSecond(r compare.Result) float64    { return r.PerSecond }
func meanTime(r compare.Result) float64     { return float64(r.Connections) * 1e6 / r.PerSecond }
func p50(r compare.Result) float64          { return micros(r.P50) }
func p99(r compare.Result) float64          { return micros(r.P99) }
func ops(r compare.Result) float64          { return float64(r.Ops) }
func processTime(r compare.Result) float64  { return micros(r.ProcessTime) }
func postgresTime(r compare.Result) float64 { return micros(r.PostgresTime) }
func objects(r compare.Result) float64      { return r.Objects }
func kibibytes(r compare.Result) float64    { return r.Bytes / (1 << 10) }

// values returns a figure of a variant for each round.
func values(all []compare.Result, scenario, variant string, connections int, f figure) []float64 {
	var values []float64
	for _, r := range all {
		if r.Scenario == scenario && r.Variant == variant && r.Connections == connections {
			values = append(values, f(r))
		}
	}
	return values
}

func spread(all []compare.Result, scenario, variant string, connections int, f figure) Spread {
	return NewSpread(values(all, scenario, variant, connections, f))
}

// relative is a figure of the server divided by that of another variant in the same round.
func relative(all []compare.Result, scenario, variant string, connections int, f figure) Spread {
	return NewSpread(ratios(values(all, scenario, compare.Server, connections, f), values(all, scenario, variant, connections, f)))
}

// connectionsOf lists the numbers of connections at which a scenario was measured, in order.
func connectionsOf(all []compare.Result, scenario string) []int {
	var counts []int
	for _, r := range all {
		if r.Scenario == scenario && (len(counts) == 0 || counts[len(counts)-1] != r.Connections) {
			counts = append(counts, r.Connections)
		}
	}
	return counts
}

// measured lists the scenarios that were measured and have an HTTP operation.
func measured(all []compare.Result) []scenarios.Scenario {
	var found []scenarios.Scenario
	for _, s := range scenarios.All {
		if s.HTTP != nil && len(connectionsOf(all, s.Name)) > 0 {
			found = append(found, s)
		}
	}
	return found
}
