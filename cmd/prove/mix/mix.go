// Package mix is a steady load: agents that read their profile, the feed and their wallet, send messages and take orders from the
// offer to the payment, over keep-alive connections that each send one request after the other. What an agent does and who it is are
// drawn at random for each operation.
//
// The operations are the mix of the benchmark (package scenarios). Nothing is recorded but how long each request took and how many
// operations succeeded.
package mix

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// The operations that write. Each completed Orders is one order with five changes.
const (
	Messages = "messages"
	Orders   = "orders"
)

// Mix is the agents and what they did.
type Mix struct {
	// Address is where the service is.
	Address string
	Agents  []*world.Agent

	// done counts operations by their place in scenarios.Mix.
	done []atomic.Int64
}

// Done counts the operations that succeeded, by scenario.
func (m *Mix) Done() map[string]int {
	done := make(map[string]int)
	for i := range m.done {
		done[scenarios.Mix[i].Name] = int(m.done[i].Load())
	}
	return done
}

// Callers are connections that send requests.
type Callers struct {
	mix *Mix
	all []*caller
}

// caller is one connection. It belongs to one goroutine at a time.
type caller struct {
	mix       *Mix
	client    *load.Client
	latencies []time.Duration
}

// Open opens that number of connections. The caller must call Close.
func (m *Mix) Open(ctx context.Context, connections int) (*Callers, error) {
	c := &Callers{mix: m}
	for range connections {
		one := &caller{mix: m}
		if err := one.dial(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.all = append(c.all, one)
	}
	return c, nil
}

func (c *caller) dial(ctx context.Context) (err error) {
	if c.client, err = load.Dial(ctx, c.mix.Address); err != nil {
		return err
	}
	c.client.Took = func(took time.Duration) { c.latencies = append(c.latencies, took) }
	return nil
}

// Close closes the connections.
func (c *Callers) Close() error {
	errs := make([]error, 0, len(c.all))
	for _, one := range c.all {
		errs = append(errs, one.client.Close())
	}
	return errors.Join(errs...)
}

// Run lets every connection send requests without a pause. The latencies are those of requests. The first failure ends it.
func (c *Callers) Run(ctx context.Context, length time.Duration) (load.Sample, error) {
	return c.run(ctx, length, func(ctx context.Context, one *caller) error { return one.act(ctx) })
}

// Failures are the requests of a paced load that failed.
type Failures struct {
	mu    sync.Mutex
	count int
	first []string
}

// keptFailures is how many failures are reported.
const keptFailures = 10

// Add notes a failure.
func (f *Failures) Add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if len(f.first) < keptFailures {
		f.first = append(f.first, time.Now().UTC().Format(time.TimeOnly)+" "+err.Error())
	}
}

// All returns how many there were, and the first ones.
func (f *Failures) All() (count int, first []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, slices.Clone(f.first)
}

// Pace lets the connections together send perSecond requests a second. A failure is noted, and the connection begins anew.
func (c *Callers) Pace(ctx context.Context, perSecond float64, length time.Duration, failures *Failures) (load.Sample, error) {
	interval := time.Duration(float64(time.Second) * scenarios.MixRequests() / perSecond)
	begun := time.Now()
	var slots atomic.Int64
	return c.run(ctx, length, func(ctx context.Context, one *caller) error {
		due := begun.Add(time.Duration(slots.Add(1)-1) * interval)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(due)):
		}
		err := one.act(ctx)
		if err == nil {
			return nil
		}
		failures.Add(err)
		_ = one.client.Close() // it may be broken already
		if err := one.dial(ctx); err != nil {
			return err
		}
		return nil
	})
}

func (c *Callers) run(ctx context.Context, length time.Duration, act func(context.Context, *caller) error) (load.Sample, error) {
	ops := make([]load.Op, len(c.all))
	for i, one := range c.all {
		one.latencies = one.latencies[:0]
		ops[i] = func(ctx context.Context) error { return act(ctx, one) }
	}
	s, err := load.Run(ctx, ops, length)
	s.Latencies = s.Latencies[:0]
	for _, one := range c.all {
		s.Latencies = append(s.Latencies, one.latencies...)
	}
	slices.Sort(s.Latencies)
	return s, err
}

// act performs one operation of one agent.
func (c *caller) act(ctx context.Context) error {
	a := c.mix.Agents[rand.IntN(len(c.mix.Agents))]
	which := scenarios.DrawPart()
	part := &scenarios.Mix[which]
	if err := part.HTTP(a, c.client)(ctx); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	c.mix.done[which].Add(1)
	return nil
}
