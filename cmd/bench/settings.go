package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stoa/cmd/bench/scenarios"
)

// The parts of a run that are no paths.
const (
	memoryPart  = "memory"
	channelPart = "channel"
	silentPart  = "silent"
	growthPart  = "growth"
)

// runCommand measures. Everything is measured unless Only names something; then nothing is written down.
type runCommand struct {
	Server      string        `default:"bin/stoa" help:"The program to measure."`
	Only        []string      `help:"Measure only these: the names of paths, memory, channel, silent, growth."`
	Connections []int         `default:"1,16,64" help:"How many connections at once."`
	Rounds      int           `default:"5" help:"How many turns each contestant gets."`
	Length      time.Duration `default:"1s" help:"How long a turn is."`
	Agents      []int         `default:"1000,50000,500000" help:"Sizes, smallest first. The contest is held at the last, or, when only some paths are measured, at the first."`
	Posts       int           `help:"How many posts at least; 0: two an agent, or as many as a path needs."`
	Rates       []int         `default:"1,50,500" help:"Messages a second on the event channel."`
	Delivery    time.Duration `default:"15s" help:"How long messages are sent at each rate."`
	Sockets     int           `default:"5000" help:"How many idle sockets to open, as far as the limit on open files allows."`
	Silent      int           `default:"1000" help:"How many sockets to open that acknowledge nothing."`
	Out         string        `default:"docs" help:"Folder for benchmarks.md and bench/."`
	Profiles    string        `help:"Also take a processor profile of the server on each path, into this folder."`
	Dir         string        `help:"Folder for the database; empty: the system's for temporary files."`
	Deadline    time.Duration `default:"40m" help:"When to give up."`
}

// fewest agents are enough for every caller to have a friend of its own, and for the event channel.
const fewest = 512

// Validate refuses names that are none and sizes that do not do.
func (c *runCommand) Validate() error {
	known := []string{memoryPart, channelPart, silentPart, growthPart}
	for _, p := range scenarios.All {
		known = append(known, p.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	if len(c.Agents) == 0 || !slices.IsSorted(c.Agents) || c.Agents[0] < fewest {
		return fmt.Errorf("--agents: from %d, smallest first", fewest)
	}
	if c.Rounds < 1 || c.Length <= 0 || c.Sockets < 1 || slices.ContainsFunc(c.Connections, func(n int) bool { return n < 1 }) {
		return errors.New("--rounds, --length, --sockets and --connections must be positive")
	}
	return nil
}

// wants tells whether a part or a path is measured.
func (c *runCommand) wants(name string) bool {
	return len(c.Only) == 0 || slices.Contains(c.Only, name)
}

// sizes are those that are seeded; without growth one is enough.
func (c *runCommand) sizes() []int {
	if c.wants(growthPart) {
		return c.Agents
	}
	return c.Agents[:1]
}

// contested are the paths of the contest.
func (c *runCommand) contested() []scenarios.Path {
	var chosen []scenarios.Path
	for _, p := range scenarios.All {
		if c.wants(p.Name) || (p.HTTP == nil && c.wants(scenarios.Deep)) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}
