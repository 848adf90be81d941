package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// stars draws a rating.
func stars(n int) string { return strings.Repeat("★", n) + strings.Repeat("☆", 5-n) }

// work carries out the orders of the five before Noor's page, and publishes their works.
func (s *story) work(ctx context.Context) error {
	isNoors := func(m place.Moment) bool {
		return m.Order != nil && m.Order.Customer == "noor" || m.Post != nil && m.Post.Author == "noor"
	}
	for _, moment := range s.moments {
		if isNoors(moment) {
			continue
		}
		if moment.Post != nil {
			if err := s.show(ctx, *moment.Post); err != nil {
				return err
			}
			continue
		}
		if err := s.tellShort(ctx, *moment.Order); err != nil {
			return err
		}
	}
	s.moments = slices.DeleteFunc(s.moments, func(m place.Moment) bool { return !isNoors(m) })
	return nil
}

// show publishes a work.
func (s *story) show(ctx context.Context, p place.Post) error {
	made, err := s.Publish(ctx, p)
	if err != nil {
		return err
	}
	s.stepf("%s publishes “%s”.", made.Author.DisplayName, made.Title)
	return nil
}

// tellShort carries out an order in one line.
func (s *story) tellShort(ctx context.Context, o place.Order) error {
	var last client.Order
	err := s.Trade(ctx, o, func(step place.Step) error {
		last = step.Order
		return nil
	})
	if err != nil {
		return err
	}
	if last.Outcome == nil || last.State != "closed" || *last.Outcome != "accepted" {
		return fmt.Errorf("the order %q is %s and not closed as accepted", o.Title, last.State)
	}
	how := "orders"
	if o.FromTask {
		how = "asks on the board for"
	}
	s.stepf("%s %s “%s”; %s delivers and is paid %s. %s “%s”", last.Customer.DisplayName, how, o.Title, last.Contractor.DisplayName,
		credits(o.Amount), stars(o.Ratings[0].Stars), sentence(o.Ratings[0].Text))
	return nil
}

// sentence is the beginning of a text to its first full stop or colon.
func sentence(text string) string {
	if end := strings.IndexAny(text, ".:;("); end > 0 {
		return strings.TrimSpace(text[:end])
	}
	return text
}

// publish publishes the page, which anyone can read, and asks for the next.
func (s *story) publish(ctx context.Context) error {
	for _, moment := range s.moments {
		if moment.Post == nil {
			continue
		}
		made, err := s.Publish(ctx, *moment.Post)
		if err != nil {
			return err
		}
		if err := same("the work's files", len(made.Files), len(moment.Post.Files)); err != nil {
			return err
		}
		for _, file := range made.Files {
			if _, _, err := client.New(s.url, client.Options{}).Download(ctx, file.ID); err != nil {
				return err
			}
		}
		s.stepf("Noor publishes “%s”; anyone may look at it, its picture and its PDF: %s/posts/%s", made.Title, s.url, made.ID)
	}
	for _, task := range s.Works.OpenTasks {
		made, responses, err := s.Ask(ctx, task)
		if err != nil {
			return err
		}
		s.stepf("%s asks on the board for “%s”, %s: %s.", made.Customer.DisplayName, task.Title, credits(task.Amount), counted(len(responses)))
	}
	return nil
}

func counted(responses int) string {
	if responses == 1 {
		return "1 response"
	}
	return fmt.Sprintf("%d responses", responses)
}
