package curve_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/cmd/bench/machine"
	"stoa/cmd/prove/curve"
	"stoa/cmd/prove/report"
)

// The limit is named by the first rule that applies.
func TestWall(t *testing.T) {
	t.Parallel()
	busy := map[string]float64{"database": 0.8, "servers": 0.6, "load balancer": 0.2, "load generator": 0.2}
	waits := map[string]float64{"LWLock/WALWrite": 0.4, "IO/WALSync": 0.2, "Lock/tuple": 0.001}
	for name, c := range map[string]struct {
		point     curve.Point
		name, why string
	}{
		"busy cores": {
			curve.Point{ServerCores: 0.2, Processes: 3, Usage: curve.Usage{Busy: 1.9, Cores: busy, Waits: waits}},
			"the processor",
			"of it the database used 42 %, the servers used 32 %, the load balancer used 11 %, the load generator used 11 %, and all else 5 %",
		},
		"bounded servers": {
			curve.Point{ServerCores: 0.2, Processes: 3, Usage: curve.Usage{Busy: 1.5, Cores: busy, Waits: waits}},
			"the servers' share of the processor", "they used 0.60 of their 0.60 cores",
		},
		"bounds that are not used": {
			curve.Point{ServerCores: 0.2, Processes: 4, Usage: curve.Usage{Busy: 1.5, Cores: busy, Waits: waits}},
			"what the database waits for", "its working processes waited LWLock/WALWrite 40 %, IO/WALSync 20 %",
		},
		"connections to the database": {
			curve.Point{Usage: curve.Usage{Busy: 1.5, Cores: busy, Pooled: 24, InUse: 23}},
			"the servers' connections to the database", "23 of 24 were in use",
		},
		"nothing": {
			curve.Point{Usage: curve.Usage{Busy: 1.5, Cores: busy, Pooled: 24, InUse: 3}},
			"the number of connections", "nothing else is used up",
		},
	} {
		found, why := curve.Wall(c.point, 2)
		require.Equal(t, c.name, found, name)
		require.Equal(t, c.why, why, name)
	}
}

// points are a measurement in which each server answers 100 requests a second where it has a bound, and else the database limits.
func points() (all []curve.Point) {
	for _, cores := range []float64{0, 0.2} {
		for _, processes := range []int{1, 2, 4} {
			for _, connections := range []int{4, 16, 64} {
				p := curve.Point{
					ServerCores: cores, Processes: processes, Connections: connections, PerSecond: min(float64(30*connections), 1000),
					P99:   time.Duration(connections) * time.Millisecond,
					Usage: curve.Usage{Busy: 1.9, Cores: map[string]float64{"database": 1.4, "servers": 0.4}, Fsyncs: 99},
				}
				if cores > 0 {
					p.PerSecond, p.Busy = min(p.PerSecond, float64(100*processes)), 1
				}
				all = append(all, p)
			}
		}
	}
	return all
}

// The knee has the fewest connections of those points that reach nine tenths of the highest rate.
func TestKnee(t *testing.T) {
	t.Parallel()
	of := func(rates ...float64) (all []curve.Point) {
		for i, rate := range rates {
			all = append(all, curve.Point{Connections: i, PerSecond: rate})
		}
		return all
	}
	require.Equal(t, 2, curve.Knee(of(10, 50, 92, 100, 95)).Connections)
	require.Equal(t, 0, curve.Knee(of(100, 50)).Connections)
	require.Equal(t, 0, curve.Knee(of(0, 0)).Connections)
}

func TestChapter(t *testing.T) {
	t.Parallel()
	r := &curve.Result{
		Origin: report.Origin{Version: "stoa abc", Command: "make prove", Machine: machine.Description{Cores: 2}},
		Plan: curve.Plan{
			Processes: []int{1, 2, 4}, Connections: []int{4, 16, 64}, ServerCores: 0.2, Length: time.Second, WarmUp: time.Second,
		},
		Agents: 1000, Points: points(),
	}
	c, err := r.Chapter()
	require.NoError(t, err)
	for _, part := range []string{
		"### Servers without a bound\n\n**The limit is the processor**: of it the database used 74 %",
		"4 servers answer 1.0 times as much as 1 server.",
		"### Servers of 0.2 cores each\n", "4 servers answer 4.0 times as much as 1 server.",
		"| 2 | 120/s, 4.0 ms | 200/s, 16.0 ms | 200/s, 64.0 ms |", "](proof-curve.svg)",
	} {
		require.Contains(t, c.Text, part)
	}
	for _, none := range []string{"NaN", "Inf", "%!", "<no value>", "\n\n\n"} {
		require.NotContains(t, c.Text, none)
		require.NotContains(t, c.Chart, none)
	}
	require.Equal(t, 4, strings.Count(c.Chart, `class="title"`))
	require.Equal(t, 12, strings.Count(c.Chart, `<path class="line line`)-12, "a line and its label each")

	r.ServerCores, r.Points = 0, r.Points[:9]
	c, err = r.Chapter()
	require.NoError(t, err)
	require.NotContains(t, c.Text, "cores each\n")
	require.NotContains(t, c.Text, "Other programs")
	r.Points[8].Busy = 2.5 // and no measured part used it
	c, err = r.Chapter()
	require.NoError(t, err)
	require.Contains(t, c.Text, "Other programs")
	for line := range strings.Lines(c.Text) {
		require.True(t, strings.HasPrefix(line, "|") || utf8.RuneCountInString(line) <= 131, line)
	}
}
