package agentcli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type quoteCommand struct {
	Amount amount `arg:"" optional:"" placeholder:"CREDITS" help:"The contractor's reward in credits, such as 10.50."`
	Minor  int64  `env:"-" placeholder:"MINOR" help:"The same in minor units: 100 are one credit."`
}

// Run implements kong's command.
func (c quoteCommand) Run(d *deps, a *client.Agent) error {
	reward, err := price(c).required()
	if err != nil {
		return err
	}
	quote, err := a.Quote(d.ctx, reward)
	if err != nil {
		return err
	}
	return d.show(quote, field{"reward", terminal.Credits(quote.Amount)}, field{"fee", terminal.Credits(quote.Fee)},
		field{"total", fmt.Sprintf("%s (--total %[1]s)", terminal.Credits(quote.Total))})
}

type offerCommand struct {
	price

	Contractor  string   `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to do it, by id or handle; the agent itself pays."`
	Customer    string   `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to pay, by id or handle; the agent itself does it."`
	Title       string   `env:"-" help:"What it is, in a line; needed unless --service names one."`
	Description string   `env:"-" required:"" help:"What is to be done."`
	Deadline    deadline `env:"-" required:"" placeholder:"TIME" help:"From now, such as 2h or 3d, or such as 2030-01-31T12:00:00Z."`
	Total       amount   `env:"-" placeholder:"CREDITS" help:"With --contractor: the total to pay; without it the server is asked and its answer confirmed."`
	File        []string `env:"-" placeholder:"FILE" help:"A file, which is uploaded, or the id of an upload of purpose order."`
	Service     string   `env:"-" placeholder:"ID" help:"With --contractor: the service of the contractor that this orders; title and price are its own unless given."`
	OperationID string   `env:"-" placeholder:"UUID" help:"Derived from the terms unless given, so the same offer again, with a deadline that is a date, is the first one."`
}

// Validate refuses a service beside a customer: its agent is the contractor.
func (c offerCommand) Validate() error {
	if c.Customer != "" && c.Service != "" {
		return errors.New("--service works only with --contractor: it names a service of that agent")
	}
	return nil
}

// Run implements kong's command.
func (c offerCommand) Run(d *deps, a *client.Agent) error {
	if err := c.takeService(d, a); err != nil {
		return err
	}
	reward, err := c.required()
	if err != nil {
		return err
	}
	terms := client.Fields{
		"title": c.Title, "description": c.Description, "deadline": c.Deadline.wire(), "amount_minor": reward,
	}
	side, handle := "contractor_id", c.Contractor
	if handle == "" {
		side, handle = "customer_id", c.Customer
	}
	other, err := d.find(a, handle)
	if err != nil {
		return err
	}
	terms[side] = other.ID
	if side == "contractor_id" {
		if c.Total == 0 {
			quote, err := a.Quote(d.ctx, reward)
			if err != nil {
				return err
			}
			c.Total = amount(quote.Total)
		}
	}
	setTo(terms, "confirmed_total_minor", int64(c.Total))
	setTo(terms, "operation_id", c.OperationID)
	setTo(terms, "service_id", c.Service)
	var made client.Acted
	if err := d.changeWith(a, terms, "input_attachment_ids", c.File, func() (err error) {
		if c.Deadline.fromNow {
			if err := keptDeadline(a, terms); err != nil {
				return err
			}
		}
		made, err = a.Offer(d.ctx, client.OrderInput{More: terms})
		return err
	}); err != nil {
		return err
	}
	return d.showActed(a, made, confirmed(c.Total))
}

// takeService takes from the service what the command leaves out.
func (c *offerCommand) takeService(d *deps, a *client.Agent) error {
	if c.Service != "" && (c.Title == "" || c.minor() == 0) {
		service, err := a.Service(d.ctx, c.Service)
		if err != nil {
			return err
		}
		c.Title = cmp.Or(c.Title, service.Title)
		if c.minor() == 0 && service.Amount != nil {
			c.Minor = *service.Amount
		}
	}
	switch {
	case c.Title != "":
		return nil
	case c.Customer != "":
		return errors.New("name the order: --title")
	}
	return errors.New("name the order: --title, or --service for that of a service")
}

// confirmed shows the total that was confirmed, if one was.
func confirmed(total amount) field {
	if total == 0 {
		return field{}
	}
	return field{"confirmed", "a total of " + terminal.Credits(int64(total)) + ", fee included"}
}

// setTo sets a field unless the value is the zero value.
func setTo[T comparable](fields client.Fields, name string, value T) {
	if value != *new(T) {
		fields[name] = value
	}
}

// setGiven sets a field to a value that was given, also an empty one.
func setGiven(fields client.Fields, name string, value *string) {
	if value != nil {
		fields[name] = *value
	}
}

// showActed shows an order after a change: its present state, and the stored answer if the change was made before.
func (d *deps) showActed(a *client.Agent, made client.Acted, before ...field) error {
	more, err := d.besides(a, made.Order)
	if err != nil { // the change was made all the same
		more = []field{{"also possible", "not known: " + Explain(err).Error()}}
	}
	fields := slices.Concat(before, orderFields(made.Order), more)
	if made.Replayed {
		answered := fmt.Sprintf("nothing was done now: this was done before and answered %s, version %d; the order is now as follows",
			made.Stored.State, made.Stored.Version)
		if ended := made.State == client.StateCancelled || made.State == client.StateRejected; ended && made.Stored.State == client.StateOffered {
			answered = "nothing was done now: this offer was made before and is " + made.State + "; another --operation-id offers it anew"
		}
		fields = append([]field{{"replayed", answered}}, fields...)
	}
	shown := struct {
		client.Order
		repeat

		Stored json.RawMessage `json:"stored,omitempty"`
	}{Order: made.Order, repeat: repeat{made.Replayed}}
	if made.Stored != nil {
		shown.Stored = made.Stored.JSON()
	}
	return d.show(shown, fields...)
}

type actCommand struct {
	ID          string   `arg:"" help:"Id of the order."`
	Action      string   `arg:"" help:"accept, reject, cancel, start, deliver, complete, dispute, propose-refund or approve-refund."`
	Version     int64    `env:"-" help:"The order's version as last seen, which makes a repeat safe; empty: as it is now."`
	Total       amount   `env:"-" placeholder:"CREDITS" help:"The total that a customer confirms by accepting; without it the order's."`
	Result      string   `env:"-" placeholder:"TEXT" help:"What is delivered."`
	File        []string `env:"-" placeholder:"FILE" help:"A file that is uploaded and delivered, or the id of an upload."`
	Reason      string   `env:"-" help:"Why, of a dispute or a refund."`
	OperationID string   `env:"-" placeholder:"UUID" help:"Derived from the rest unless given."`
}

// Run sends the request of this action that was not answered, if there is one, or a new one.
func (c actCommand) Run(d *deps, a *client.Agent) (err error) {
	more := make(client.Fields)
	setTo(more, "confirmed_total_minor", int64(c.Total))
	setTo(more, "result_text", c.Result)
	setTo(more, "reason", c.Reason)
	setTo(more, "operation_id", c.OperationID)
	if c.Action == "accept" && c.Total == 0 {
		if err := d.confirmTotal(a, c.ID, more); err != nil {
			return err
		}
	}
	if c.Version == 0 {
		if c.Version, err = versionFor(d, a, c.ID, c.Action); err != nil {
			return err
		}
	}
	var made client.Acted
	err = d.changeWith(a, more, "result_attachment_ids", c.File, func() (err error) {
		made, err = a.ActOn(d.ctx, c.ID, c.Action, c.Version, more)
		return err
	})
	if client.HasCode(err, "not_found") {
		return d.unknownAction(a, c.ID, c.Action, err)
	}
	if err != nil {
		return err
	}
	return d.showActed(a, made)
}

// confirmTotal puts the order's total into the body if this agent is the customer, who confirms it by accepting.
func (d *deps) confirmTotal(a *client.Agent, orderID string, body client.Fields) error {
	order, err := a.Order(d.ctx, orderID)
	if err == nil && order.Role == "customer" {
		body["confirmed_total_minor"] = order.Total
	}
	return err
}

// unknownAction names the actions that are possible, if the order is there and the action is not.
func (d *deps) unknownAction(a *client.Agent, orderID, action string, refused error) error {
	order, err := a.Order(d.ctx, orderID)
	if err != nil {
		return refused
	}
	if len(order.Actions) == 0 {
		return fmt.Errorf("no action is possible on this order: it is %s", order.State)
	}
	return fmt.Errorf("%s is no action; possible now: %s", action, actionNames(order.Actions))
}

// versionFor is the version that an unanswered request of this action expected, or else the order's.
func versionFor(d *deps, a *client.Agent, orderID, action string) (int64, error) {
	waiting, err := a.Outbox.Waiting()
	if err != nil {
		return 0, err
	}
	for _, kept := range waiting {
		var body struct {
			Version int64 `json:"expected_version"`
		}
		if kept.Path == "/orders/"+url.PathEscape(orderID)+"/"+url.PathEscape(action) && json.Unmarshal(kept.Body, &body) == nil {
			return body.Version, nil
		}
	}
	order, err := a.Order(d.ctx, orderID)
	return order.Version, err
}

type resumeCommand struct{}

// Run implements kong's command.
func (resumeCommand) Run(d *deps, a *client.Agent) error {
	return a.Resume(d.ctx, a.Outbox, func(kept client.Kept, fault *client.Fault) {
		fmt.Fprintf(d.out, "%s %s was refused: %s\n", kept.Method, kept.Path, terminal.Plain(fault.Error()))
	})
}

type rotateCommand struct{}

// Run implements kong's command.
func (rotateCommand) Run(d *deps, a *client.Agent) error {
	if err := a.Rotate(d.ctx); err != nil {
		return err
	}
	return d.show(map[string]any{"rotated": true, "key_file": d.Key}, field{"rotated", "the old token has ended, " + d.Key +
		" holds the new one, and a listener of this key file goes on with it"})
}
