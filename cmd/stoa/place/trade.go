package place

import (
	"context"
	"fmt"
	"time"

	"stoa/rest/client"
)

// day is the unit of deadlines.
const day = 24 * time.Hour

// deadline is a time some days from now, as the API takes it; 0 is one day.
func deadline(days int) string {
	return time.Now().Add(time.Duration(max(1, days)) * day).UTC().Format(time.RFC3339)
}

// Ask puts a task on the board and has those respond who have joined. It returns the responses by handle.
func (s *Stage) Ask(ctx context.Context, t Task) (client.Task, map[string]client.Response, error) {
	made, err := s.Actor(t.Customer).CreateTask(ctx, client.Fields{
		"title": t.Title, "description": t.Description, "deadline": deadline(t.Days), "amount_minor": t.Amount,
	})
	if err != nil {
		return made, nil, fmt.Errorf("the task %q: %w", t.Title, err)
	}
	responses := make(map[string]client.Response)
	for _, r := range t.Responses {
		responses[r.Bot], err = s.Actor(r.Bot).Respond(ctx, made.ID, client.Fields{"text": r.Text, "amount_minor": r.Amount})
		if err != nil {
			return made, nil, fmt.Errorf("the response of %s to %q: %w", r.Bot, t.Title, err)
		}
	}
	return made, responses, nil
}

// Step is an action on an order, or a rating of it, that was done.
type Step struct {
	// Name is offer, accept, select, start, deliver, complete or rate.
	Name string
	// By has done it.
	By *Actor
	// Order is its state after the step.
	Order client.Order
	// Again repeats the request, which must change nothing; nil for a rating.
	Again func(context.Context) (client.Acted, error)
	// Rating that was given, for rate.
	Rating *Rating
}

// Trade carries out an order with all its steps, and calls done after each; an error of done ends it. Files must be uploaded.
func (s *Stage) Trade(ctx context.Context, o Order, done func(Step) error) error {
	customer, contractor := s.Actor(o.Customer), s.Actor(o.Contractor)
	wrap := func(step string, err error) error {
		if err != nil {
			return fmt.Errorf("%s of the order %q: %w", step, o.Title, err)
		}
		return nil
	}
	var order client.Order
	take := func(name string, by *Actor, request func(context.Context) (client.Acted, error)) error {
		acted, err := request(ctx)
		if err != nil {
			return wrap(name, err)
		}
		order = acted.Order
		return wrap(name, done(Step{Name: name, By: by, Order: order, Again: request}))
	}
	if err := s.agree(ctx, o, take); err != nil {
		return err
	}
	act := func(by *Actor, action string, more client.Fields) error {
		version := order.Version
		return take(action, by, func(ctx context.Context) (client.Acted, error) {
			return by.ActOn(ctx, order.ID, action, version, more)
		})
	}
	if !o.FromTask {
		if err := act(contractor, "accept", nil); err != nil {
			return err
		}
	}
	result := client.Fields{"result_text": o.ResultText}
	if len(o.ResultFiles) > 0 {
		result["result_attachment_ids"] = contractor.ids("order", o.ResultFiles)
	}
	for _, step := range []struct {
		by     *Actor
		action string
		more   client.Fields
	}{{contractor, "start", nil}, {contractor, "deliver", result}, {customer, "complete", nil}} {
		if err := act(step.by, step.action, step.more); err != nil {
			return err
		}
	}
	for _, rating := range o.Ratings {
		by := s.Actor(rating.Author)
		if _, _, err := by.Rate(ctx, order.ID, rating.Stars, rating.Text); err != nil {
			return wrap("the rating", err)
		}
		if err := done(Step{Name: "rate", By: by, Order: order, Rating: &rating}); err != nil {
			return wrap("the rating", err)
		}
	}
	return nil
}

// agree offers an order, or chooses a response to its task.
func (s *Stage) agree(
	ctx context.Context, o Order, take func(name string, by *Actor, request func(context.Context) (client.Acted, error)) error,
) error {
	customer, contractor := s.Actor(o.Customer), s.Actor(o.Contractor)
	quote, err := customer.Quote(ctx, o.Amount)
	if err != nil {
		return err
	}
	if o.FromTask {
		task, responses, err := s.Ask(ctx, s.Works.task(o))
		if err != nil {
			return err
		}
		return take("select", customer, func(ctx context.Context) (client.Acted, error) {
			return customer.Select(ctx, task.ID, responses[o.Contractor].ID, quote.Total)
		})
	}
	terms := client.Fields{
		"title": o.Title, "description": o.Description, "contractor_id": contractor.Brief.ID, "deadline": deadline(1),
		"amount_minor": o.Amount, "confirmed_total_minor": quote.Total,
	}
	return take("offer", customer, func(ctx context.Context) (client.Acted, error) { return customer.Offer(ctx, terms) })
}
