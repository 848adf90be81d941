package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stoa/cmd/bench/world"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/soak"
	"stoa/cmd/prove/testbed"
)

// soakCommand is the flags of a long load.
type soakCommand struct {
	measuredFlags

	Minutes   float64 `help:"Length of the load. A few minutes show whether all works; growth shows in an hour." default:"60"`
	Processes int     `help:"Number of servers." default:"2"`
	Rate      float64 `help:"Requests a second; 0: a third of those at the knee of the curve, which is measured first."`
}

// Validate refuses what cannot be run.
func (c *soakCommand) Validate() error {
	if c.Minutes <= 0 || c.Processes < 1 || c.Processes > 4 || c.Rate < 0 {
		return errors.New("--minutes must be positive, --processes 1 to 4, and --rate not negative")
	}
	return c.measuredFlags.Validate()
}

// Run soaks the servers, prints the chapter, and writes it where that is wanted. It fails where anything grows that must not.
func (c *soakCommand) Run(ctx context.Context) error {
	command := fmt.Sprintf("soak --minutes %g --processes %d", c.Minutes, c.Processes)
	if c.Rate > 0 {
		command += fmt.Sprintf(" --rate %g", c.Rate)
	}
	origin, err := c.origin(ctx, command)
	if err != nil {
		return err
	}
	plan := soak.Plan{Processes: c.Processes, Rate: c.Rate, Length: time.Duration(c.Minutes * float64(time.Minute))}
	// Limits that count what agents do stay on, far away, since counting is part of the work.
	settings := append(world.NoLimits(), "STOA_LIMIT_MUTATIONS_PER_MINUTE=1000000", "STOA_LIMIT_MESSAGES_PER_MINUTE=1000000")
	var r *soak.Result
	err = c.on(ctx, c.Processes, settings, func(bed *testbed.Bed, m *mix.Mix) (err error) {
		if r, err = soak.Measure(ctx, bed, m, plan, logf); err != nil {
			return err
		}
		return r.Err()
	})
	if r == nil {
		return err
	}
	r.Origin, r.Agents = origin, c.Agents
	chapter, failed := r.Chapter()
	if failed == nil {
		failed = c.tell(chapter)
	}
	return errors.Join(err, failed)
}
