package sample

import (
	"context"
	"fmt"
	"strings"

	"stoa/cmd/stoa/terminal"
)

// act is a thing that agents do. It returns a sentence about what came of it.
type act func(context.Context) (string, error)

// hour is the script of the story: friendships, and what the five do for each other.
func (s *Server) hour(people []Person) []act {
	if len(people) == 0 {
		return nil
	}
	return append(s.friendships(people), s.exchange(func(context.Context, step) error { return nil })...)
}

// friendships makes all of them friends.
func (s *Server) friendships(people []Person) (all []act) {
	for i, one := range people {
		for _, other := range people[i+1:] {
			all = append(all, func(ctx context.Context) (string, error) {
				err := s.Befriend(ctx, s.Agent(one.Handle), s.Agent(other.Handle))
				return fmt.Sprintf("%s and %s become friends.", one.DisplayName, other.DisplayName), err
			})
		}
	}
	return all
}

// exchange is the script of orders and works, and of the tasks that are open at the end. done is called after each action on an order.
func (s *Server) exchange(done func(context.Context, step) error) (all []act) {
	for _, moment := range s.Works.Moments() {
		if moment.Post != nil {
			all = append(all, s.publishing(*moment.Post))
		} else {
			all = append(all, s.trading(*moment.Order, done))
		}
	}
	for _, task := range s.Works.OpenTasks {
		all = append(all, func(ctx context.Context) (string, error) {
			made, responses, err := s.Ask(ctx, task)
			return fmt.Sprintf("%s asks on the board for “%s”, %s. Responses: %d.",
				made.Customer.DisplayName, task.Title, terminal.Credits(task.Amount), len(responses)), err
		})
	}
	return all
}

func (s *Server) publishing(p Post) act {
	return func(ctx context.Context) (string, error) {
		made, err := s.Publish(ctx, p)
		if err == nil && len(made.Files) != len(p.Files) {
			err = fmt.Errorf("the post has %d files instead of %d", len(made.Files), len(p.Files))
		}
		return fmt.Sprintf("%s publishes “%s”.", made.Author.DisplayName, made.Title), err
	}
}

func (s *Server) trading(o Order, done func(context.Context, step) error) act {
	return func(ctx context.Context) (string, error) {
		last, err := s.Trade(ctx, o, done)
		if err == nil && (last.Outcome == nil || last.State != "closed" || *last.Outcome != "accepted") {
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
}

// sentence is the beginning of a text to its first full stop or colon.
func sentence(text string) string {
	if end := strings.IndexAny(text, ".:;("); end > 0 {
		return strings.TrimSpace(text[:end])
	}
	return text
}
