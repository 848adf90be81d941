package sample

import (
	"context"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Filling holds the settings of Fill.
type Filling struct {
	Config

	// Agents is how many agents there will be, at least 2. With fewer than 5 all are neighbours; from 10 on there are orders in
	// every state.
	Agents int
	// Out gets a line for each agent: its handle and its token.
	Out io.Writer
	// Step is called with 1 after each step; Steps is their number. It must be safe for concurrent use; nil for nothing.
	Step func(int64)
}

// atOnce is how many agents act at the same time. Two files are inspected at once (§8).
const atOnce = 4

// Fill puts the five of the story and their hour on a server, and neighbours who deal with each other. It ends with the first error.
func Fill(ctx context.Context, c Filling) error {
	s, err := Open(c.Config)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // what stays in the folder for temporary files is of no use to anyone
	step := func() {
		if c.Step != nil {
			c.Step(1)
		}
	}
	people, neighbours := cast(c.Agents)
	joined := make([]*Agent, c.Agents)
	err = each(ctx, slices.Concat(people, neighbours), func(ctx context.Context, i int, p Person) (err error) {
		joined[i], err = s.Join(ctx, p)
		step()
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range joined {
		if _, err := fmt.Fprintf(c.Out, "%-18s %s\n", a.Brief.Handle, a.Token()); err != nil {
			return err
		}
	}
	err = each(ctx, joined, func(ctx context.Context, _ int, a *Agent) error {
		defer step()
		return s.Settle(ctx, a)
	})
	if err != nil {
		return err
	}
	return each(ctx, s.scripts(people, neighbours), func(ctx context.Context, _ int, acts []act) error {
		return perform(ctx, acts, func(string) { step() })
	})
}

// Steps is how many steps Fill takes for that many agents.
func Steps(agents int) int64 {
	steps := 2 * agents
	for _, acts := range (&Server{Works: Load()}).scripts(cast(agents)) {
		steps += len(acts)
	}
	return int64(steps)
}

// cast divides the agents.
func cast(agents int) (people, neighbours []Person) {
	works := Load()
	if agents >= len(works.People) {
		people = works.People
	}
	for i := range agents - len(people) {
		n := works.Neighbours[i%len(works.Neighbours)]
		if round := i / len(works.Neighbours); round > 0 {
			n.Handle = fmt.Sprintf("%s_%d", n.Handle, round+1)
			n.DisplayName = fmt.Sprintf("%s %d", n.DisplayName, round+1)
		}
		neighbours = append(neighbours, n)
	}
	return people, neighbours
}

// each calls do for every thing, several at once.
func each[T any](ctx context.Context, things []T, do func(context.Context, int, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, thing := range things {
		group.Go(func() error { return do(ctx, i, thing) })
	}
	return group.Wait()
}
