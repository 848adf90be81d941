package sample

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/rest/client"
)

// act is a step of agents. It returns sentences about its result, one a line.
type act func(context.Context) string

// failure is the panic with which an act ends early, so that an act of ten requests needs no ten branches. attempt returns it.
type failure struct{ error }

// attempt runs a part of a script and returns its failure.
func attempt(part func()) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case failure:
			err = cause.error
		default:
			panic(cause)
		}
	}()
	part()
	return nil
}

// aboutf is deferred: it adds the attempted step to a failure.
func aboutf(format string, args ...any) {
	switch cause := recover().(type) {
	case nil:
	case failure:
		panic(failure{fmt.Errorf(format+": %w", append(args, cause.error)...)})
	default:
		panic(cause)
	}
}

// check ends the act with an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](result T, err error) T {
	check(err)
	return result
}

func expect[T comparable](what string, got, want T) {
	if got != want {
		check(fmt.Errorf("%s is %v instead of %v", what, got, want))
	}
}

var errAccepted = errors.New("it was accepted")

// refused requires err to be a refusal with that status and code.
func refused(what string, err error, status int, code string) {
	fault, ok := errors.AsType[*client.Fault](err)
	if !ok || fault.Code != code || fault.Status != status {
		check(fmt.Errorf("%s should be refused with %d %s, but: %w", what, status, code, cmp.Or(err, errAccepted)))
	}
}

// perform carries out acts one after the other, until one fails, and calls done with each result.
func perform(ctx context.Context, acts []act, done func(said string)) error {
	return attempt(func() {
		for _, act := range acts {
			done(act(ctx))
		}
	})
}

type chapter struct {
	title string
	acts  []act
}

// tell prints the chapters and carries out their acts; it returns the first error. Each line of an act is a step.
func tell(ctx context.Context, out io.Writer, chapters []chapter) error {
	steps := 0
	for _, chapter := range chapters {
		_, _ = fmt.Fprintf(out, "\n%s\n", chapter.title) // the story continues even if nobody reads it
		err := perform(ctx, chapter.acts, func(said string) {
			for line := range strings.SplitSeq(said, "\n") {
				steps++
				_, _ = fmt.Fprintf(out, "%3d. %s\n", steps, line)
			}
		})
		if err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, steps, err)
		}
	}
	_, _ = fmt.Fprintln(out, "\nAll checks passed.")
	return nil
}

// atOnce is the number of agents that act at the same time. Two files are inspected at once (§8).
const atOnce = 4

// Fill fills a server with the five agents of the story, their works and orders, and other agents that trade. The first error
// ends it.
func Fill(ctx context.Context, c Config) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	defer s.close()
	if c.Step == nil {
		c.Step = func(int64) {}
	}
	people, neighbours := cast(c.Agents)
	joined := make([]*agent, c.Agents)
	err = each(ctx, slices.Concat(people, neighbours), func(ctx context.Context, i int, p Person) {
		joined[i] = s.join(ctx, p)
		c.Step(1)
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
		c.Step(1)
	})
	if err != nil {
		return err
	}
	return each(ctx, s.scripts(people, neighbours), func(ctx context.Context, _ int, acts []act) {
		check(perform(ctx, acts, func(string) { c.Step(1) }))
	})
}

// Steps returns the number of Fill's steps for a number of agents.
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

// each calls do for every thing, for several at the same time, and returns the first failure.
func each[T any](ctx context.Context, things []T, do func(context.Context, int, T)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, thing := range things {
		group.Go(func() error { return attempt(func() { do(ctx, i, thing) }) })
	}
	return group.Wait()
}

// endings are the sequences of actions after an offer, one for each state of an order (§3.1).
var endings = []string{
	"", "accept", "accept start", "accept start deliver", "accept start deliver complete", "accept start deliver dispute",
	"accept start deliver dispute propose-refund approve-refund", "cancel", "reject",
}

// enoughForAll is the number of neighbours that make orders in every state.
const enoughForAll = 5

// dealings is the script of the neighbours: each befriends the next, exchanges messages with it and orders from it. They repeat
// this until an order of every state exists.
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
