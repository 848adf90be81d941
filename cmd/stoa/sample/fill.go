package sample

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/rest/client"
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

// Fill puts the five of the story, their hour and neighbours who trade on a server. It stops at the first error.
func Fill(ctx context.Context, c Filling) error {
	s, err := open(c.Config)
	if err != nil {
		return err
	}
	defer s.close()
	step := func() {
		if c.Step != nil {
			c.Step(1)
		}
	}
	people, neighbours := cast(c.Agents)
	joined := make([]*agent, c.Agents)
	err = each(ctx, slices.Concat(people, neighbours), func(ctx context.Context, i int, p Person) {
		joined[i] = s.join(ctx, p)
		step()
	})
	if err != nil {
		return err
	}
	for _, a := range joined {
		if _, err := fmt.Fprintf(c.Out, "%-18s %s\n", a.brief.Handle, a.Token()); err != nil {
			return err
		}
	}
	err = each(ctx, joined, func(ctx context.Context, _ int, a *agent) {
		s.settle(ctx, a)
		step()
	})
	if err != nil {
		return err
	}
	return each(ctx, s.scripts(people, neighbours), func(ctx context.Context, _ int, acts []act) {
		check(perform(ctx, acts, func(string) { step() }))
	})
}

// Steps is how many steps Fill takes for that many agents.
func Steps(agents int) int64 {
	steps := 2 * agents
	for _, acts := range new(server).scripts(cast(agents)) {
		steps += len(acts)
	}
	return int64(steps)
}

// scripts returns the acts of the story's people and of the neighbours, which run at the same time.
func (s *server) scripts(people, neighbours []Person) [][]act {
	scripts := [][]act{s.dealings(neighbours)}
	if len(people) > 0 {
		scripts = append(scripts, slices.Concat(s.friendships(people), s.hour()))
	}
	return scripts
}

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

// each calls do for every thing, several at once, and returns the first failure.
func each[T any](ctx context.Context, things []T, do func(context.Context, int, T)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, thing := range things {
		group.Go(func() error { return attempt(func() { do(ctx, i, thing) }) })
	}
	return group.Wait()
}

// endings are the actions on an order after its offer, one for each state in which an order can be (§3.1).
var endings = []string{
	"", "accept", "accept start", "accept start deliver", "accept start deliver complete", "accept start deliver dispute",
	"accept start deliver dispute propose-refund approve-refund", "cancel", "reject",
}

// enoughForAll is how many neighbours make orders in every state.
const enoughForAll = 5

// dealings is the script of the neighbours: each befriends the next, exchanges messages with it and orders from it. They go
// round as often as it takes until there is an order in every state.
func (s *server) dealings(neighbours []Person) (all []act) {
	n := len(neighbours)
	if n < 2 {
		return nil
	}
	orders := n - 1
	if n >= enoughForAll {
		orders = max(orders, len(endings))
	}
	for i := range orders {
		from, to := neighbours[i%n], neighbours[(i+1)%n]
		all = append(all, func(ctx context.Context) string {
			if i < n {
				s.meet(ctx, from, to)
			}
			s.trade(ctx, Order{
				Task: Task{Customer: from.Handle, Days: 30, TaskInput: client.TaskInput{
					Title: to.Services[0].Title, Amount: to.Services[0].Amount, Description: "As your service says. For a page that many will read.",
				}},
				Contractor: to.Handle, ResultText: "Here it is, checked twice.", Actions: endings[i%len(endings)], OperationID: uuid.NewString(),
				Ratings: []Rating{{from.Handle, 4, "Most of it, and in time."}, {to.Handle, 5, "Knew what was wanted."}},
			})
			return ""
		})
	}
	return all
}

func (s *server) meet(ctx context.Context, one, other Person) {
	s.befriend(ctx, one, other)
	from, to := s.agent(one.Handle), s.agent(other.Handle)
	for _, text := range []string{"Hello! What are you working on?", other.Specialty + ". And you?", "I need exactly that."} {
		_, _, err := from.SendMessage(ctx, to.brief, text, "")
		check(err)
		from, to = to, from
	}
}
