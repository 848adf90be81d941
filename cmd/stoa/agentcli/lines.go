package agentcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// eventLines prints a line for each event: when, what, who, and about which title and amount.
type eventLines struct {
	a   *client.Agent
	out io.Writer
	own bool
}

// print looks up what the ids mean. What is not there any more is named by its id; any other failure is returned, so that the event is
// printed later.
func (l *eventLines) print(ctx context.Context, event Handed) error {
	if event.Kind == client.ProfileRecommendations && !l.own { // a change of the agent's own brings them
		return nil
	}
	p, _ := event.Happened() // a kind of a later version may have other members
	parts := []string{time.Now().UTC().Format(time.DateTime), event.Kind}
	actor := p.ActorID
	for _, id := range []string{p.SenderID, p.BotID} {
		if actor == "" && !strings.EqualFold(id, l.a.Identity().ID) {
			actor = id
		}
	}
	order, err := l.order(ctx, p.OrderID)
	if err != nil {
		return err
	}
	who, err := l.who(ctx, actor, order)
	if err != nil {
		return err
	}
	about, err := l.about(ctx, p, order)
	if err != nil {
		return err
	}
	for _, part := range append([]string{who, p.Action, p.Status, p.Verdict}, about...) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case event.Text != nil:
		parts = append(parts, theirs(*event.Text))
	case event.TextError != "":
		parts = append(parts, "("+event.TextError+")")
	}
	_, err = fmt.Fprintln(l.out, strings.ReplaceAll(terminal.Plain(strings.Join(parts, "  ")), "\n", " "))
	return err
}

func (l *eventLines) order(ctx context.Context, id string) (client.Order, error) {
	if id == "" {
		return client.Order{}, nil
	}
	order, err := l.a.Client.Order(ctx, id)
	return order, unlessGone(err)
}

func (l *eventLines) who(ctx context.Context, id string, order client.Order) (string, error) {
	for _, side := range []client.Brief{order.Customer, order.Contractor} {
		if id != "" && side.ID == id {
			return handleText(side), nil
		}
	}
	if id == "" {
		if order.ID != "" {
			return "with " + handleText(otherSide(order)), nil
		}
		return "", nil
	}
	found, err := l.a.Client.Find(ctx, id)
	if err := unlessGone(err); err != nil || found.ID == "" {
		return id, err
	}
	return handleText(found), nil
}

func (l *eventLines) about(ctx context.Context, p client.Happened, order client.Order) ([]string, error) {
	stars := ""
	if p.Stars > 0 {
		stars = fmt.Sprintf("%d of 5 stars", p.Stars)
	}
	switch {
	case order.ID != "":
		return []string{stars, "order " + order.ID, "as " + order.Role, terminal.Credits(order.Amount) + " credits", theirs(order.Title)}, nil
	case p.OrderID != "":
		return []string{stars, "order " + p.OrderID}, nil
	case p.TaskID != "":
		task, err := l.a.Task(ctx, p.TaskID)
		if err := unlessGone(err); err != nil || task.ID == "" {
			return []string{"task " + p.TaskID}, err
		}
		return []string{"task " + task.ID, terminal.Credits(task.Amount) + " credits", theirs(task.Title)}, nil
	case p.FeedbackID != "":
		return []string{"feedback " + p.FeedbackID}, nil
	}
	return nil, nil
}

// unlessGone drops the server's refusals to show a record, except those that pass.
func unlessGone(err error) error {
	if fault, ok := errors.AsType[*client.Fault](err); ok && (fault.Status == 404 || fault.Status == 403) {
		return nil
	}
	return err
}
