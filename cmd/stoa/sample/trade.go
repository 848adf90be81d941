package sample

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// deadline is a time some days from now, as the API takes it; 0 is one day.
func deadline(days int) string {
	return time.Now().AddDate(0, 0, max(1, days)).UTC().Format(time.RFC3339)
}

// ask puts a task on the board and has those respond who have joined. It returns the ids of the responses by handle.
func (s *Server) ask(ctx context.Context, t Task) (client.Task, map[string]string, error) {
	made, err := s.Agent(t.Customer).CreateTask(ctx, client.TaskInput{
		Title: t.Title, Description: t.Description, Deadline: deadline(t.Days), Amount: t.Amount,
	})
	if err != nil {
		return made, nil, fmt.Errorf("the task %q: %w", t.Title, err)
	}
	responses := make(map[string]string)
	for _, r := range t.Responses {
		response, err := s.Agent(r.Bot).Respond(ctx, made.ID, r.Text, r.Amount)
		if err != nil {
			return made, nil, fmt.Errorf("the response of %s to %q: %w", r.Bot, t.Title, err)
		}
		responses[r.Bot] = response.ID
	}
	return made, responses, nil
}

// request takes one step of an order; made again it changes nothing.
type request func(context.Context) (client.Acted, error)

// trade agrees on an order, takes its actions, and has its sides rate each other.
func (s *Server) trade(ctx context.Context, o Order) (client.Order, error) {
	step, err := s.agree(ctx, o)
	if err != nil {
		return client.Order{}, fmt.Errorf("the order %q: %w", o.Title, err)
	}
	order, err := s.take(ctx, o, "offer", step)
	for action := range strings.FieldsSeq(o.Actions) {
		if err == nil && (action != "accept" || !o.FromTask) {
			order, err = s.take(ctx, o, action, s.step(o, action, order))
		}
	}
	if err != nil {
		return order, err
	}
	for _, rating := range o.Ratings {
		if order.State != client.StateClosed { // only then
			break
		}
		if _, _, err := s.Agent(rating.Author).Rate(ctx, order.ID, rating.Stars, rating.Text); err != nil {
			return order, fmt.Errorf("the rating of the order %q: %w", o.Title, err)
		}
	}
	return order, nil
}

// states are those of an order after each step.
var states = map[string]string{
	"offer": "offered", "accept": "funded", "start": "in_progress", "deliver": "delivered", "complete": "closed",
}

// take takes a step. A server that compares requires the state that the step leads to, and that a repeat changes nothing.
func (s *Server) take(ctx context.Context, o Order, name string, step request) (client.Order, error) {
	acted, err := step(ctx)
	if err == nil && s.compares {
		again, repeated := step(ctx)
		state := states[name]
		if name == "offer" && o.FromTask {
			state = client.StateFunded
		}
		err = errors.Join(repeated, same("the state", acted.State, state), same("Idempotent-Replayed", again.Replayed, true),
			same("the version after a repeat", again.Version, acted.Version))
	}
	if err != nil {
		return acted.Order, fmt.Errorf("%s of the order %q: %w", name, o.Title, err)
	}
	return acted.Order, nil
}

// agree returns the request that offers an order, or that chooses a response to its task.
func (s *Server) agree(ctx context.Context, o Order) (request, error) {
	customer, contractor := s.Agent(o.Customer), s.Agent(o.Contractor)
	quote, err := customer.Quote(ctx, o.Amount)
	if err != nil {
		return nil, err
	}
	if o.FromTask {
		task, responses, err := s.ask(ctx, s.Works.task(o))
		return func(ctx context.Context) (client.Acted, error) {
			return customer.Select(ctx, task.ID, responses[o.Contractor], quote.Total)
		}, err
	}
	terms := client.OrderInput{
		Title: o.Title, Description: o.Description, ContractorID: contractor.Brief.ID, Deadline: deadline(o.Days), Amount: o.Amount,
		ConfirmedTotal: quote.Total,
	}
	if o.Again {
		terms.OperationID = uuid.NewString()
	}
	return func(ctx context.Context) (client.Acted, error) { return customer.Offer(ctx, terms) }, nil
}

// contractors are the actions that the contractor takes.
var contractors = []string{"accept", "reject", "start", "deliver", "propose-refund"}

// reasons are those of actions that need one.
var reasons = map[string]string{"dispute": "Two lines are missing.", "propose-refund": "They are, I am sorry."}

// step returns the request of an action.
func (s *Server) step(o Order, action string, order client.Order) request {
	by, more := s.Agent(o.Customer), client.Fields{}
	if slices.Contains(contractors, action) {
		by = s.Agent(o.Contractor)
	}
	if reason := reasons[action]; reason != "" {
		more["reason"] = reason
	}
	if action == "deliver" {
		more["result_text"] = o.ResultText
		if len(o.ResultFiles) > 0 {
			more["result_attachment_ids"] = by.ids("order", o.ResultFiles...)
		}
	}
	return func(ctx context.Context) (client.Acted, error) {
		return by.ActOn(ctx, order.ID, action, order.Version, more)
	}
}
