package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"stoa/cmd/bench/load"
)

// variant is one side of a comparison.
type variant struct {
	name string
	// pid is the process whose processor time counts as the server's; 0 for none.
	pid int
	db  *sql.DB
	// measure runs a scenario and returns how many operations took how long; 0 if the variant does not have it.
	measure func(ctx context.Context, s load.Scenario, connections int, length time.Duration) (ops int, took time.Duration, err error)
}

// compare measures all variants in turns, in random order in each round, after a round of warming up, and writes their results.
func (c *command) compare(ctx context.Context, d *database, s load.Scenario, all []variant, out io.Writer) error {
	for _, v := range all {
		if err := calm(ctx, v.db); err != nil {
			return err
		}
	}
	lines := make([]string, len(all))
	for round := range c.Rounds + 1 {
		for _, i := range rand.Perm(len(all)) {
			line, err := c.once(ctx, d, s, all[i])
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			if round > 0 {
				lines[i] += line
			}
		}
	}
	for i, v := range all {
		fmt.Fprintf(out, "by: %s\n%s", v.name, lines[i])
	}
	return nil
}

// once measures a variant once and returns the line of its result.
func (c *command) once(ctx context.Context, d *database, s load.Scenario, v variant) (string, error) {
	before, err := d.usage(v)
	if err != nil {
		return "", err
	}
	ops, took, err := v.measure(ctx, s, c.Connections, c.Length)
	if err != nil || ops == 0 {
		return "", err
	}
	after, err := d.usage(v)
	if err != nil {
		return "", err
	}
	each := func(total time.Duration) float64 { return float64(total) / float64(ops) }
	line := fmt.Sprintf("Benchmark%s-%d %d %.0f ns/op %.0f postgres-ns/op", strings.ToUpper(s.Name[:1])+s.Name[1:], c.Connections, ops,
		each(took), each(after.postgres-before.postgres))
	if v.pid != 0 {
		line += fmt.Sprintf(" %.0f server-ns/op", each(after.server-before.server))
	}
	return line + "\n", nil
}

// usage is the processor time that a server and PostgreSQL have used.
type usage struct{ server, postgres time.Duration }

func (d *database) usage(v variant) (u usage, err error) {
	if v.pid != 0 {
		if u.server, err = cpuTime(v.pid); err != nil {
			return u, err
		}
	}
	u.postgres, err = postgresTime(d.postmaster)
	return u, err
}
