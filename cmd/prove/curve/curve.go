// Package curve measures how far one database goes: how many requests a second several numbers of servers answer to several numbers of
// connections, what uses the processor meanwhile, and what the database waits for. From that it names what limits the service.
package curve

import (
	"context"
	"errors"
	"slices"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/testbed"
)

// Plan says what is measured.
type Plan struct {
	// Processes are the numbers of servers, ascending, Connections those of connections, ascending.
	Processes, Connections []int
	// ServerCores bounds each server to a share of the processor in a second way of measuring; 0 leaves that away.
	ServerCores float64
	// Length is how long each point is measured, after WarmUp.
	WarmUp, Length time.Duration
}

// Point is one measurement.
type Point struct {
	// ServerCores is the bound of each server, 0 for none.
	ServerCores            float64
	Processes, Connections int
	PerSecond              float64
	P50, P99               time.Duration
	Usage
}

// Measure measures all points of a plan on a bed with as many servers as the plan needs at most. It stops servers as it goes on.
func Measure(ctx context.Context, bed *testbed.Bed, m *mix.Mix, plan Plan, told func(Point)) ([]Point, error) {
	var all []Point
	ways := []float64{0}
	if plan.ServerCores > 0 {
		ways = append(ways, plan.ServerCores)
	}
	for _, processes := range slices.Backward(plan.Processes) {
		for _, s := range bed.Servers[processes:] {
			s.Stop()
		}
		running := bed.Servers[:processes]
		for _, cores := range ways {
			if err := bound(running, cores, plan.ServerCores > 0); err != nil {
				return nil, err
			}
			for _, connections := range plan.Connections {
				p, err := measure(ctx, bed, m, running, connections, plan)
				if err != nil {
					return nil, err
				}
				p.ServerCores = cores
				told(p)
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Point) int { return a.Processes - b.Processes })
	slices.SortStableFunc(all, func(a, b Point) int { return int(1000 * (a.ServerCores - b.ServerCores)) })
	return all, nil
}

// bound bounds servers, where anything is ever bounded.
func bound(running []*testbed.Server, cores float64, ever bool) error {
	if !ever {
		return nil
	}
	for _, s := range running {
		if err := s.SetCores(cores); err != nil {
			return err
		}
	}
	return nil
}

func measure(ctx context.Context, bed *testbed.Bed, m *mix.Mix, running []*testbed.Server, connections int, plan Plan) (p Point, err error) {
	callers, err := m.Open(ctx, connections)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, callers.Close()) }()
	if _, err := callers.Run(ctx, plan.WarmUp); err != nil {
		return p, err
	}
	meter, err := start(ctx, bed, running)
	if err != nil {
		return p, err
	}
	sample, err := callers.Run(ctx, plan.Length)
	usage, failed := meter.stop(ctx)
	return newPoint(len(running), connections, sample, usage), errors.Join(err, failed)
}

func newPoint(processes, connections int, s load.Sample, u Usage) Point {
	return Point{
		Processes: processes, Connections: connections, PerSecond: s.PerSecond(), P50: s.Quantile(0.5), P99: s.Quantile(0.99), Usage: u,
	}
}

// kneeShare is the share of the highest rate from which on more connections bring little.
const kneeShare = 0.9

// Knee is the point with the fewest connections that reaches nine tenths of the highest rate of these points.
func Knee(points []Point) Point {
	highest := slices.MaxFunc(points, byRate).PerSecond
	return points[slices.IndexFunc(points, func(p Point) bool { return p.PerSecond >= kneeShare*highest })]
}

func byRate(a, b Point) int {
	switch {
	case a.PerSecond < b.PerSecond:
		return -1
	case a.PerSecond > b.PerSecond:
		return 1
	}
	return 0
}
