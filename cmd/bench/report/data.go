package report

import (
	"time"

	"stoa/cmd/bench/channel"
	"stoa/cmd/bench/contest"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/paths"
)

// Data is everything that one run measured; what it did not measure is empty.
type Data struct {
	Date             time.Time
	Took             time.Duration
	Commit, Go       string
	Postgres         string
	Machine          machine.Description
	Plan             contest.Plan
	Agents, Posts    int
	Results          []contest.Result
	Growth           []Size
	Rest, AfterLoad  machine.Memory
	Idle             channel.Idle
	Silent           channel.Silent
	Deliveries       []channel.Delivery
	GrownConnections int
	// Differences are what the answers of the server and the minimal server do not have in common.
	Differences []string
	// Failures are the measurements that came to nothing, and why.
	Failures []string
}

// Size is what the server alone did with so many agents and posts.
type Size struct {
	Agents, Posts int
	Results       []contest.Result
}

// figure is one of the figures of a result.
type figure func(contest.Result) float64

func perSecond(r contest.Result) float64 { return r.PerSecond }
func median(r contest.Result) float64    { return micros(r.P50) }
func slow(r contest.Result) float64      { return micros(r.P99) }
func process(r contest.Result) float64   { return micros(r.Process) }
func postgres(r contest.Result) float64  { return micros(r.Postgres) }
func objects(r contest.Result) float64   { return r.Objects }
func kibibytes(r contest.Result) float64 { return r.Bytes / (1 << 10) }
func micros(d time.Duration) float64     { return float64(d) / float64(time.Microsecond) }

// rounds picks a figure of a contestant, round by round.
func rounds(all []contest.Result, path, contestant string, connections int, f figure) []float64 {
	var values []float64
	for _, r := range all {
		if r.Path == path && r.Contestant == contestant && r.Connections == connections {
			values = append(values, f(r))
		}
	}
	return values
}

// of is the spread of a figure over the rounds.
func of(all []contest.Result, path, contestant string, connections int, f figure) Spread {
	return NewSpread(rounds(all, path, contestant, connections, f))
}

// against is the spread of the server's throughput as a share of a contestant's.
func against(all []contest.Result, path, contestant string, connections int) Spread {
	return NewSpread(Quotients(rounds(all, path, contest.Server, connections, perSecond), rounds(all, path, contestant, connections, perSecond)))
}

// connectionsOf lists the numbers of connections at which a path was measured, in order.
func connectionsOf(all []contest.Result, path string) []int {
	var counts []int
	for _, r := range all {
		if r.Path == path && (len(counts) == 0 || counts[len(counts)-1] != r.Connections) {
			counts = append(counts, r.Connections)
		}
	}
	return counts
}

// measured lists the paths that were measured.
func measured(all []contest.Result) []paths.Path {
	var found []paths.Path
	for _, p := range paths.All {
		if len(connectionsOf(all, p.Name)) > 0 {
			found = append(found, p)
		}
	}
	return found
}
