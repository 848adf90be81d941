package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stoa/cmd/bench/world"
	"stoa/cmd/prove/curve"
	"stoa/cmd/prove/mix"
	"stoa/cmd/prove/report"
	"stoa/cmd/prove/testbed"
)

// curveCommand is the flags of the curve.
type curveCommand struct {
	measuredFlags

	Processes   []int         `help:"Numbers of servers, ascending." default:"1,2,4"`
	Connections []int         `help:"Numbers of connections, ascending." default:"4,16,64,128"`
	ServerCores float64       `help:"Measure a second time with each server bounded to this share of the processor, at least 0.1; as root on a kernel with cgroups. 0: once."`
	Length      time.Duration `help:"How long each point is measured." default:"8s"`
	WarmUp      time.Duration `help:"Load before each point is measured." default:"2s"`
}

// Validate refuses what cannot be measured.
func (c *curveCommand) Validate() error {
	ascending := slices.IsSorted(c.Processes) && slices.IsSorted(c.Connections)
	switch {
	case len(c.Processes) == 0 || len(c.Connections) == 0 || !ascending || min(c.Processes[0], c.Connections[0]) < 1:
		return errors.New("--processes and --connections must be ascending numbers from 1")
	case c.ServerCores != 0 && c.ServerCores < testbed.MinCores:
		return fmt.Errorf("--server-cores must be at least %g", testbed.MinCores)
	case min(c.Length, c.WarmUp) <= 0:
		return errors.New("--length and --warm-up must be positive")
	}
	if c.ServerCores > 0 {
		if err := testbed.Shares(); err != nil {
			return fmt.Errorf("--server-cores: %w", err)
		}
	}
	return c.measuredFlags.Validate()
}

// Run measures the curve, prints its chapter, and writes it where that is wanted.
func (c *curveCommand) Run(ctx context.Context) error {
	origin, err := c.origin(ctx, c.text())
	if err != nil {
		return err
	}
	r := &curve.Result{Origin: origin, Agents: c.Agents, Plan: curve.Plan{
		Processes: c.Processes, Connections: c.Connections, ServerCores: c.ServerCores, Length: c.Length, WarmUp: c.WarmUp,
	}}
	if err := c.on(ctx, slices.Max(c.Processes), world.NoLimits(), func(bed *testbed.Bed, m *mix.Mix) (err error) {
		r.Points, err = curve.Measure(ctx, bed, m, r.Plan, logPoint)
		return err
	}); err != nil {
		return err
	}
	chapter, err := r.Chapter()
	if err != nil {
		return err
	}
	return c.tell(chapter)
}

// text is the command with its flags.
func (c *curveCommand) text() string {
	text := fmt.Sprintf("curve --processes %s --connections %s --length %s", list(c.Processes), list(c.Connections), c.Length)
	if c.ServerCores > 0 {
		text += fmt.Sprintf(" --server-cores %g", c.ServerCores)
	}
	return text
}

func list(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
}

// tell prints a chapter, and writes it where that is wanted.
func (f *measuredFlags) tell(chapter report.Chapter) error {
	fmt.Fprintln(os.Stdout, chapter.Text)
	if f.Out == "" {
		return nil
	}
	return report.Save(f.Out, chapter)
}
