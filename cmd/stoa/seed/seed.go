// Package seed fills a server, through its API, with a place of any size: the five agents of the works that the program carries
// (cmd/stoa/place) and their hour, and neighbours who are friends, exchange messages and have orders in every state.
package seed

import (
	"context"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/stoa/place"
)

// Config holds the settings of Fill.
type Config struct {
	place.Config

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

// filler is a run of Fill.
type filler struct {
	*place.Stage

	config Config
	// people are the agents of the story, neighbours the others.
	people, neighbours []*place.Actor
}

// Fill makes the place. It ends with the first error.
func Fill(ctx context.Context, c Config) error {
	stage, err := place.Open(c.Config)
	if err != nil {
		return err
	}
	f := &filler{Stage: stage, config: c}
	defer stage.Close() //nolint:errcheck // what stays in the folder for temporary files is of no use to anyone
	for _, phase := range []func(context.Context) error{f.join, f.settle, f.live} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Steps is how many steps Fill takes for that many agents.
func Steps(agents int) int64 {
	people, neighbours := cast(agents)
	steps := 2 * len(people) // to join and to settle
	if len(people) > 0 {
		works := place.Load()
		steps += len(pairs(len(people))) + len(works.Moments()) + len(works.OpenTasks)
	}
	return int64(steps + 2*len(neighbours) + len(dealings(len(neighbours))))
}

// cast divides the agents.
func cast(agents int) (people, neighbours []place.Person) {
	works := place.Load()
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

// step reports that a step was done.
func (f *filler) step() {
	if f.config.Step != nil {
		f.config.Step(1)
	}
}

// each calls act for every one of the agents, several at once.
func each[T any](ctx context.Context, all []T, act func(context.Context, int, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, one := range all {
		group.Go(func() error { return act(ctx, i, one) })
	}
	return group.Wait()
}

// join registers all agents and prints them in their order.
func (f *filler) join(ctx context.Context) error {
	people, neighbours := cast(f.config.Agents)
	all := slices.Concat(people, neighbours)
	joined := make([]*place.Actor, len(all))
	err := each(ctx, all, func(ctx context.Context, i int, p place.Person) (err error) {
		joined[i], err = f.Join(ctx, p)
		f.step()
		return err
	})
	if err != nil {
		return err
	}
	f.people, f.neighbours = joined[:len(people)], joined[len(people):]
	for _, a := range joined {
		if _, err := fmt.Fprintf(f.config.Out, "%-18s %s\n", a.Brief.Handle, a.Token()); err != nil {
			return err
		}
	}
	return nil
}

// settle uploads files, completes profiles, and publishes what neighbours have made and what all offer.
func (f *filler) settle(ctx context.Context) error {
	all := slices.Concat(f.people, f.neighbours)
	return each(ctx, all, func(ctx context.Context, _ int, a *place.Actor) error {
		defer f.step()
		if err := f.Stage.Upload(ctx, a); err != nil {
			return err
		}
		if a.Person.Avatar != "" {
			if err := f.Dress(ctx, a); err != nil {
				return err
			}
		}
		if work := a.Person.Work; work != nil {
			made := *work
			made.Author = a.Person.Handle
			if _, err := f.Publish(ctx, made); err != nil {
				return err
			}
		}
		return f.OfferServices(ctx, a)
	})
}

// live has the people of the story live their hour, and the neighbours deal with each other meanwhile.
func (f *filler) live(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.hour(ctx) })
	group.Go(func() error { return f.deal(ctx) })
	return group.Wait()
}

// pairs are all pairs of n things.
func pairs(n int) (all [][2]int) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			all = append(all, [2]int{a, b})
		}
	}
	return all
}

// hour lets the story happen: friendships, orders with the works between them, and what is open at the end.
func (f *filler) hour(ctx context.Context) error {
	if len(f.people) == 0 {
		return nil
	}
	for _, pair := range pairs(len(f.people)) {
		if err := f.Befriend(ctx, f.people[pair[0]], f.people[pair[1]]); err != nil {
			return err
		}
		f.step()
	}
	for _, moment := range f.Works.Moments() {
		var err error
		if moment.Post != nil {
			_, err = f.Publish(ctx, *moment.Post)
		} else {
			err = f.Trade(ctx, *moment.Order, func(place.Step) error { return nil })
		}
		if err != nil {
			return err
		}
		f.step()
	}
	for _, task := range f.Works.OpenTasks {
		if _, _, err := f.Ask(ctx, task); err != nil {
			return err
		}
		f.step()
	}
	return nil
}
