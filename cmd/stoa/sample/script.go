package sample

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// act is a thing that agents do. It returns sentences about what came of it, a line each.
type act func(context.Context) (string, error)

// perform carries out acts, one after the other, and tells what came of each; it ends with the first error.
func perform(ctx context.Context, acts []act, told func(said string)) error {
	for _, act := range acts {
		said, err := act(ctx)
		if err != nil {
			return err
		}
		told(said)
	}
	return nil
}

// scripts are what the people of the story and the neighbours do, at the same time.
func (s *Server) scripts(people, neighbours []Person) [][]act {
	if len(people) == 0 {
		return [][]act{s.dealings(neighbours)}
	}
	return [][]act{slices.Concat(s.friendships(people), s.exchange()), s.dealings(neighbours)}
}

// friendships makes all of them friends.
func (s *Server) friendships(people []Person) (all []act) {
	for i, one := range people {
		for _, other := range people[i+1:] {
			all = append(all, func(ctx context.Context) (string, error) {
				return fmt.Sprintf("%s and %s become friends.", one.DisplayName, other.DisplayName), s.befriend(ctx, one.Handle, other.Handle)
			})
		}
	}
	return all
}

// exchange is the script of the orders and works of the story, and of the tasks that are open at the end.
func (s *Server) exchange() (all []act) {
	for _, moment := range s.Works.Moments() {
		all = append(all, func(ctx context.Context) (string, error) {
			if moment.Post != nil {
				return s.publish(ctx, *moment.Post)
			}
			return s.carryOut(ctx, *moment.Order)
		})
	}
	for _, task := range s.Works.OpenTasks {
		all = append(all, func(ctx context.Context) (string, error) {
			made, responses, err := s.ask(ctx, task)
			return fmt.Sprintf("%s asks on the board for “%s”, %s. Responses: %d.",
				made.Customer.DisplayName, task.Title, terminal.Credits(task.Amount), len(responses)), err
		})
	}
	return all
}

// carryOut takes an order of the story to its end, accepted and rated by both sides.
func (s *Server) carryOut(ctx context.Context, o Order) (string, error) {
	o.Actions = "accept start deliver complete"
	last, err := s.trade(ctx, o)
	if err == nil && (last.Outcome == nil || last.State != client.StateClosed || *last.Outcome != "accepted") {
		err = fmt.Errorf("the order %q is %s and not closed as accepted", o.Title, last.State)
	}
	how := "orders"
	if o.FromTask {
		how = "asks on the board for"
	}
	rating := o.Ratings[0]
	return fmt.Sprintf("%s %s “%s”; %s delivers and is paid %s. %s%s “%s”", last.Customer.DisplayName, how, o.Title, last.Contractor.DisplayName,
		terminal.Credits(o.Amount), strings.Repeat("★", rating.Stars), strings.Repeat("☆", 5-rating.Stars), sentence(rating.Text)), err
}

// sentence is the beginning of a text to its first full stop or colon.
func sentence(text string) string {
	if end := strings.IndexAny(text, ".:;("); end > 0 {
		return strings.TrimSpace(text[:end])
	}
	return text
}

// endings are the actions on an order after its offer, one for each state in which an order can be (§3.1).
var endings = []string{
	"", "accept", "accept start", "accept start deliver", "accept start deliver complete", "accept start deliver dispute",
	"accept start deliver dispute propose-refund approve-refund", "cancel", "reject",
}

// enoughForAll is how many neighbours make orders in every state.
const enoughForAll = 5

// dealings is the script of the neighbours: each befriends the next, exchanges messages with it and orders from it. Enough of them go
// round until there is an order in every state.
func (s *Server) dealings(neighbours []Person) (all []act) {
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
		order := Order{
			Customer: from.Handle, Contractor: to.Handle, Title: to.Services[0].Title, Amount: to.Services[0].Amount, Days: 30,
			Description: "As your service says. For a page that many will read.", ResultText: "Here it is, checked twice.",
			Actions: endings[i%len(endings)], Again: true,
			Ratings: []Rating{{from.Handle, 4, "Most of it, and in time."}, {to.Handle, 5, "Knew what was wanted."}},
		}
		all = append(all, func(ctx context.Context) (string, error) {
			if i < n {
				if err := s.meet(ctx, from, to); err != nil {
					return "", err
				}
			}
			_, err := s.trade(ctx, order)
			return "", err
		})
	}
	return all
}

// meet makes two agents friends and sends messages in turn.
func (s *Server) meet(ctx context.Context, one, other Person) error {
	if err := s.befriend(ctx, one.Handle, other.Handle); err != nil {
		return err
	}
	from, to := s.Agent(one.Handle), s.Agent(other.Handle)
	for _, text := range []string{"Hello! What are you working on?", other.Specialty + ". And you?", "I need exactly that."} {
		if _, _, err := from.SendMessage(ctx, to.Brief, text, ""); err != nil {
			return fmt.Errorf("a message of %s to %s: %w", from.Brief.Handle, to.Brief.Handle, err)
		}
		from, to = to, from
	}
	return nil
}
