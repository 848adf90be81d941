package where

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
	"stoa/cmd/bench/ws"
	"stoa/graph/platform/bounds"
)

// Workload is one operation, or several.
type Workload struct {
	Name, Title string
	// Unit is the word for one operation in prose.
	Unit string
	// caller makes what one connection does, and what closes anything besides its client.
	caller func(ctx context.Context, w *world.World, number int, c *load.Client) (op load.Op, end func(), err error)
	// byRequest counts requests instead of operations.
	byRequest bool
	// Most is the largest number of connections; 0 for any.
	Most int
}

// socketAgents is the first agent whose friend has no events yet; the other workloads send to agents before it.
const socketAgents = 256

// MostConnections is the largest number of connections that have separate agents.
const MostConnections = 64

// All are the workloads of the page, those that write last.
var All = []Workload{
	scenario("me"),
	scenario("feed"),
	scenario("messages"),
	scenario("orders"),
	scenario("register"),
	{
		Name: "delivery", Title: "`POST /messages`, until the recipient has read and acknowledged the event", Unit: "message",
		caller: func(ctx context.Context, w *world.World, number int, c *load.Client) (load.Op, func(), error) {
			return ws.Delivered(ctx, c.Address(), w.Agents[socketAgents+2*number], c)
		},
	},
	{
		Name: "upload", Title: "`POST /attachments`, a JPEG of 640 × 480", Unit: "upload", Most: bounds.WaitingInspections,
		caller: func(_ context.Context, w *world.World, number int, c *load.Client) (load.Op, func(), error) {
			picture, err := scenarios.Picture()
			each := len(w.Agents) / MostConnections
			return scenarios.Upload(w.Agents[number*each:(number+1)*each], c, picture), nil, err
		},
	},
	{
		Name: "mix", Title: "the mix of `make prove PROVEFLAGS=curve`", Unit: "request", byRequest: true,
		caller: func(_ context.Context, w *world.World, _ int, c *load.Client) (load.Op, func(), error) {
			return func(ctx context.Context) error {
				agent := w.Agents[rand.IntN(len(w.Agents))]
				return scenarios.Mix[scenarios.DrawPart()].HTTP(agent, c)(ctx)
			}, nil, nil
		},
	},
}

// scenario makes a workload of a scenario of the benchmarks.
func scenario(name string) Workload {
	s := scenarios.All[slices.IndexFunc(scenarios.All, func(s scenarios.Scenario) bool { return s.Name == name })]
	return Workload{
		Name: name, Title: s.Title, Unit: "operation",
		caller: func(_ context.Context, w *world.World, number int, c *load.Client) (load.Op, func(), error) {
			return s.HTTP(w.Agents[2*number], c), nil, nil
		},
	}
}

// callers are the connections of a workload.
type callers struct {
	ops       []load.Op
	close     func()
	done      atomic.Int64
	requests  atomic.Int64
	byRequest bool
}

// count is how many operations were done so far.
func (c *callers) count() float64 {
	if c.byRequest {
		return float64(c.requests.Load())
	}
	return float64(c.done.Load())
}

// open opens the connections of a workload.
func (w Workload) open(ctx context.Context, in *world.World, address string, connections int) (c *callers, err error) {
	c = &callers{byRequest: w.byRequest}
	var ends []func()
	c.close = func() {
		for _, end := range ends {
			end()
		}
	}
	if w.Most > 0 {
		connections = min(connections, w.Most)
	}
	for number := range connections {
		client, err := load.Dial(ctx, address)
		if err != nil {
			c.close()
			return nil, err
		}
		ends = append(ends, func() { _ = client.Close() }) // not used any more
		client.Took = func(time.Duration) { c.requests.Add(1) }
		op, end, err := w.caller(ctx, in, number, client)
		if err != nil {
			c.close()
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		if end != nil {
			ends = append(ends, end)
		}
		c.ops = append(c.ops, func(ctx context.Context) error {
			err := op(ctx)
			if err == nil {
				c.done.Add(1)
			}
			return err
		})
	}
	return c, nil
}
