package report

import (
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/ws"
)

// Data is everything that one run measured; what it did not measure is empty.
type Data struct {
	Date             time.Time
	Took             time.Duration
	Commit, Go       string
	Postgres         string
	Machine          machine.Description
	Plan             compare.Plan
	Agents, Posts    int
	Results          []compare.Result
	Growth           []Size
	Rest, AfterLoad  machine.Memory
	Idle             ws.Idle
	Silent           ws.Silent
	Deliveries       []ws.Delivery
	GrownConnections int
	// Differences are what the answers of the server and the minimal server do not have in common.
	Differences []string
	// Failures are the measurements that came to nothing, and why.
	Failures []string
}

// Size is what the server alone did with so many agents and posts.
type Size struct {
	Agents, Posts int
	Results       []compare.Result
}

// figure is one of the figures of a result.
type figure func(compare.Result) float64

func perSecond(r compare.Result) float64 { return r.PerSecond }
func median(r compare.Result) float64    { return micros(r.P50) }
func slow(r compare.Result) float64      { return micros(r.P99) }
func process(r compare.Result) float64   { return micros(r.Process) }
func postgres(r compare.Result) float64  { return micros(r.Postgres) }
func objects(r compare.Result) float64   { return r.Objects }
func kibibytes(r compare.Result) float64 { return r.Bytes / (1 << 10) }
func micros(d time.Duration) float64     { return float64(d) / float64(time.Microsecond) }

// rounds picks a figure of a contestant, round by round.
func rounds(all []compare.Result, path, contestant string, connections int, f figure) []float64 {
	var values []float64
	for _, r := range all {
		if r.Path == path && r.Contestant == contestant && r.Connections == connections {
			values = append(values, f(r))
		}
	}
	return values
}

// of is the spread of a figure over the rounds.
func of(all []compare.Result, path, contestant string, connections int, f figure) Spread {
	return NewSpread(rounds(all, path, contestant, connections, f))
}

// against is the spread of the server's throughput as a share of a contestant's.
func against(all []compare.Result, path, contestant string, connections int) Spread {
	return NewSpread(Quotients(rounds(all, path, compare.Server, connections, perSecond), rounds(all, path, contestant, connections, perSecond)))
}

// connectionsOf lists the numbers of connections at which a path was measured, in order.
func connectionsOf(all []compare.Result, path string) []int {
	var counts []int
	for _, r := range all {
		if r.Path == path && (len(counts) == 0 || counts[len(counts)-1] != r.Connections) {
			counts = append(counts, r.Connections)
		}
	}
	return counts
}

// measured lists the paths that were measured.
func measured(all []compare.Result) []scenarios.Path {
	var found []scenarios.Path
	for _, p := range scenarios.All {
		if len(connectionsOf(all, p.Name)) > 0 {
			found = append(found, p)
		}
	}
	return found
}
