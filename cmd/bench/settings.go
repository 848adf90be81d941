package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stoa/cmd/bench/scenarios"
)

// The parts of a run besides the comparisons of scenarios. All measure the server alone.
const (
	memoryPart    = "memory"
	silentPart    = "silent"
	deliveryPart  = "delivery"
	growthPart    = "growth"
	ledgerPart    = "ledger"
	textsPart     = "texts"
	isolationPart = "isolation"
)

// runCommand measures.
type runCommand struct {
	Server      string        `default:"bin/stoa" help:"The program to measure."`
	Only        []string      `help:"Measure these scenarios and parts only, at the first size; write nothing. See README.md for their names."`
	Quick       bool          `help:"Check the harness: a little of everything, with meaningless figures; write nothing."`
	Rounds      int           `default:"12" help:"Number of rounds of comparisons, growth, texts and isolation."`
	Length      time.Duration `default:"350ms" help:"Length of a round for each variant."`
	Connections []int         `default:"1,16,64" help:"Numbers of connections of comparisons."`
	Agents      []int         `default:"1000,500000" help:"Numbers of agents, ascending. Scenarios are compared at the last."`
	Posts       int           `help:"Least number of posts; 0: two per agent, or as many as a scenario needs."`
	Rates       []int         `default:"50,500" help:"Messages a second of delivery."`
	Delivery    time.Duration `default:"18s" help:"Length of delivery at each rate."`
	Sockets     int           `default:"5000" help:"Number of idle sockets, as far as the limit on open files allows."`
	Polls       int           `default:"2000" help:"Number of polls that wait, likewise."`
	Silent      int           `default:"1000" help:"Number of sockets that acknowledge nothing."`
	SilentRound time.Duration `default:"1500ms" help:"Length of a round of sockets that acknowledge nothing."`
	Entries     int           `default:"5000000" help:"Number of ledger entries to reconcile."`
	Tasks       int           `default:"50000" help:"Number of tasks of 4 KB for texts and isolation."`
	Searches    int           `default:"15" help:"Number of searches for each text in a round."`
	Out         string        `default:"docs" help:"Folder for benchmarks.md and bench/."`
	Profiles    string        `help:"Folder for a processor profile of the server in each scenario; empty: none."`
	Dir         string        `help:"Folder for the database; empty: the system's temporary folder."`
	Deadline    time.Duration `default:"40m" help:"Time after which the run is given up."`
}

// minAgents gives every caller its own friend, besides the agents of the sockets.
const minAgents = 512

// Validate refuses unknown names and impossible numbers. It applies Quick.
func (c *runCommand) Validate() error {
	known := []string{memoryPart, silentPart, deliveryPart, growthPart, ledgerPart, textsPart, isolationPart}
	for _, s := range scenarios.All {
		known = append(known, s.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	if c.Quick {
		c.Rounds, c.Length, c.Connections, c.Agents = 2, 100*time.Millisecond, []int{1, 16}, []int{minAgents, 2 * minAgents}
		c.Delivery, c.Sockets, c.Polls, c.Silent, c.SilentRound = 3*time.Second, 240, 240, 20, 100*time.Millisecond
		c.Entries, c.Tasks, c.Searches = 50_000, 500, 2
	}
	if len(c.Agents) == 0 || !slices.IsSorted(c.Agents) || c.Agents[0] < minAgents {
		return fmt.Errorf("--agents: from %d, ascending", minAgents)
	}
	if min(c.Rounds, c.Sockets, c.Polls, c.Silent, c.Tasks, c.Searches, slices.Min(c.Connections), slices.Min(c.Rates)) < 1 ||
		min(c.Length, c.Delivery, c.SilentRound) <= 0 {
		return errors.New("all numbers and lengths must be positive")
	}
	return nil
}

// wants reports whether one of these parts or scenarios is measured.
func (c *runCommand) wants(names ...string) bool {
	return len(c.Only) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.Only, name) })
}

// sizes are the sizes that are seeded; without growth one is enough.
func (c *runCommand) sizes() []int {
	if c.wants(growthPart) {
		return c.Agents
	}
	return c.Agents[:1]
}

// compared lists the scenarios that are compared. A deep page needs the index scan for its target.
func (c *runCommand) compared() []scenarios.Scenario {
	var chosen []scenarios.Scenario
	for _, s := range scenarios.All {
		if c.wants(s.Name) || s.Name == scenarios.Scan && c.wants(scenarios.Deep) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}
