package sample

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
func (s *Server) Ask(ctx context.Context, t Task) (client.Task, map[string]client.Response, error) {
	made, err := s.Agent(t.Customer).CreateTask(ctx, client.TaskInput{
		Title: t.Title, Description: t.Description, Deadline: deadline(t.Days), Amount: t.Amount,
	})
	if err != nil {
		return made, nil, fmt.Errorf("the task %q: %w", t.Title, err)
	}
	responses := make(map[string]client.Response)
	for _, r := range t.Responses {
		responses[r.Bot], err = s.Agent(r.Bot).Respond(ctx, made.ID, r.Text, r.Amount)
		if err != nil {
			return made, nil, fmt.Errorf("the response of %s to %q: %w", r.Bot, t.Title, err)
		}
	}
	return made, responses, nil
}

// step is an action on an order: offer, accept, select, start, deliver or complete. Again repeats its request, which must change nothing.
type step struct {
	name  string
	order client.Order
	again func(context.Context) (client.Acted, error)
}

// Trade carries out an order to its end and both ratings, and calls done after each action; an error of done ends it.
func (s *Server) Trade(ctx context.Context, o Order, done func(context.Context, step) error) (order client.Order, err error) {
	take := func(name string, request func(context.Context) (client.Acted, error)) error {
		acted, err := request(ctx)
		if order = acted.Order; err == nil {
			err = done(ctx, step{name, order, request})
		}
		if err != nil {
			return fmt.Errorf("%s of the order %q: %w", name, o.Title, err)
		}
		return nil
	}
	first, request, err := s.agree(ctx, o)
	if err == nil {
		err = take(first, request)
	}
	if err != nil {
		return order, err
	}
	customer, contractor := s.Agent(o.Customer), s.Agent(o.Contractor)
	result := client.Fields{"result_text": o.ResultText}
	if len(o.ResultFiles) > 0 {
		result["result_attachment_ids"] = contractor.ids("order", o.ResultFiles...)
	}
	for _, next := range []struct {
		by     *Agent
		action string
		more   client.Fields
	}{{contractor, "accept", nil}, {contractor, "start", nil}, {contractor, "deliver", result}, {customer, "complete", nil}} {
		if next.action == "accept" && o.FromTask {
			continue
		}
		version := order.Version
		err := take(next.action, func(ctx context.Context) (client.Acted, error) {
			return next.by.ActOn(ctx, order.ID, next.action, version, next.more)
		})
		if err != nil {
			return order, err
		}
	}
	for _, rating := range o.Ratings {
		if _, _, err := s.Agent(rating.Author).Rate(ctx, order.ID, rating.Stars, rating.Text); err != nil {
			return order, fmt.Errorf("the rating of the order %q: %w", o.Title, err)
		}
	}
	return order, nil
}

// agree returns the request that offers an order, or that chooses a response to its task.
func (s *Server) agree(ctx context.Context, o Order) (name string, request func(context.Context) (client.Acted, error), err error) {
	customer, contractor := s.Agent(o.Customer), s.Agent(o.Contractor)
	quote, err := customer.Quote(ctx, o.Amount)
	if err != nil {
		return "", nil, err
	}
	if o.FromTask {
		task, responses, err := s.Ask(ctx, s.Works.task(o))
		return "select", func(ctx context.Context) (client.Acted, error) {
			return customer.Select(ctx, task.ID, responses[o.Contractor].ID, quote.Total)
		}, err
	}
	terms := client.OrderInput{
		Title: o.Title, Description: o.Description, ContractorID: contractor.Brief.ID, Deadline: deadline(1), Amount: o.Amount,
		ConfirmedTotal: quote.Total,
	}
	return "offer", func(ctx context.Context) (client.Acted, error) { return customer.Offer(ctx, terms) }, nil
}
