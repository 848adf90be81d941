package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"stoa/cmd/bench/load"
)

// measure measures all variants in turns, in random order in each round, after a round of warming up, and writes their results.
func (c *command) measure(ctx context.Context, d *database, s load.Scenario, all []*variant, out io.Writer) error {
	for _, v := range all {
		if err := calm(ctx, v.db); err != nil {
			return err
		}
	}
	lines := make([][]string, len(all))
	for round := range c.Rounds + 1 {
		for _, i := range rand.Perm(len(all)) {
			line, err := c.once(ctx, d, s, all[i])
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			if round > 0 {
				lines[i] = append(lines[i], line)
			}
		}
	}
	for i, v := range all {
		fmt.Fprintf(out, "by: %s\n%s", v.name, strings.Join(lines[i], ""))
	}
	return nil
}

// usage is the processor time that a server and PostgreSQL have used.
type usage struct{ server, postgres time.Duration }

func (d *database) usage(v *variant) (u usage, err error) {
	if u.server, err = cpuTime(v.process.PID); err != nil {
		return u, err
	}
	backends, err := children(d.postmaster)
	if err != nil {
		return u, err
	}
	u.postgres, err = cpuTime(backends...)
	return u, err
}

// once measures a variant once and returns the line of its result.
func (c *command) once(ctx context.Context, d *database, s load.Scenario, v *variant) (string, error) {
	ops := make([]load.Op, c.Connections)
	for i := range ops {
		client, agent := load.NewClient(v.address), v.agents[2*i]
		defer client.Close()
		ops[i] = func(ctx context.Context) error { return s.Do(ctx, client, agent) }
	}
	before, err := d.usage(v)
	if err != nil {
		return "", err
	}
	sample, err := load.Run(ctx, ops, c.Length)
	if err != nil {
		return "", err
	}
	after, err := d.usage(v)
	if err != nil {
		return "", err
	}
	each := func(total time.Duration) float64 { return float64(total) / float64(sample.Ops()) }
	return fmt.Sprintf("Benchmark%s-%d %d %.0f ns/op %.0f server-ns/op %.0f postgres-ns/op\n",
		strings.ToUpper(s.Name[:1])+s.Name[1:], c.Connections, sample.Ops(), each(sample.Elapsed),
		each(after.server-before.server), each(after.postgres-before.postgres)), nil
}
