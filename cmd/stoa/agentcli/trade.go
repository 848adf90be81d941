package agentcli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/rest/client"
)

type quoteCommand struct {
	Amount amount `arg:"" optional:"" placeholder:"CREDITS" help:"The contractor's reward in credits, such as 10.50."`
	Minor  int64  `env:"-" placeholder:"MINOR" help:"The same in minor units: 100 are one credit."`
}

// Run implements kong's command.
func (c quoteCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	reward, err := price(c).required()
	if err != nil {
		return err
	}
	quote, err := a.Quote(d.ctx, reward)
	if err != nil {
		return err
	}
	return d.show(quote, field{"reward", credits(quote.Amount)}, field{"fee", credits(quote.Fee)},
		field{"total", fmt.Sprintf("%s (--total %[1]s)", credits(quote.Total))})
}

type offerCommand struct {
	price

	Contractor  string    `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to do it, by id or handle; the agent itself pays."`
	Customer    string    `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to pay, by id or handle; the agent itself does it."`
	Title       string    `env:"-" required:"" help:"What it is, in a line."`
	Description string    `env:"-" required:"" help:"What is to be done."`
	Deadline    time.Time `env:"-" required:"" placeholder:"TIME" help:"Such as 2030-01-31T12:00:00Z."`
	Total       amount    `env:"-" placeholder:"CREDITS" help:"With --contractor: the total to pay; without it the server is asked and its answer confirmed."`
	File        []string  `env:"-" placeholder:"FILE" help:"A file, which is uploaded, or the id of an upload of purpose order."`
	Service     string    `env:"-" placeholder:"ID" help:"With --contractor: the service of the contractor that this orders."`
	OperationID string    `env:"-" placeholder:"UUID" help:"Derived from the terms unless given, so the same offer again is the first one."`
}

// Run implements kong's command.
func (c offerCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	reward, err := c.required()
	if err != nil {
		return err
	}
	terms := client.Fields{
		"title": c.Title, "description": c.Description, "deadline": c.Deadline.UTC().Format(time.RFC3339), "amount_minor": reward,
	}
	side, handle := "contractor_id", c.Contractor
	if handle == "" {
		side, handle = "customer_id", c.Customer
	}
	other, err := a.Find(d.ctx, handle)
	if err != nil {
		return err
	}
	terms[side] = other.ID
	var confirmed []field
	if side == "contractor_id" {
		if c.Total == 0 {
			quote, err := a.Quote(d.ctx, reward)
			if err != nil {
				return err
			}
			c.Total = amount(quote.Total)
		}
		confirmed = []field{{"confirmed", "a total of " + credits(int64(c.Total)) + ", fee included"}}
	}
	setTo(terms, "confirmed_total_minor", int64(c.Total))
	setTo(terms, "operation_id", c.OperationID)
	setTo(terms, "service_id", c.Service)
	if err := d.attach(a, terms, "input_attachment_ids", "order", c.File); err != nil {
		return err
	}
	made, err := a.Offer(d.ctx, terms)
	if err != nil {
		return err
	}
	return d.showActed(made, confirmed...)
}

// setTo sets a field unless the value is the zero value.
func setTo[T comparable](fields client.Fields, name string, value T) {
	if value != *new(T) {
		fields[name] = value
	}
}

func (d *deps) showOrder(o client.Order) error { return d.show(o, orderFields(o)...) }

// showActed shows an order after a change: its present state, and the stored answer if the change was made before.
func (d *deps) showActed(made client.Acted, before ...field) error {
	fields := slices.Concat(before, orderFields(made.Order))
	if made.Replayed {
		answered := fmt.Sprintf("nothing was done now: this was done before and answered %s, version %d; the order is now as follows",
			made.Stored.State, made.Stored.Version)
		fields = append([]field{{"replayed", answered}}, fields...)
	}
	return d.show(made, fields...)
}

func orderFields(o client.Order) []field {
	names := make([]string, len(o.Actions))
	for i, action := range o.Actions {
		names[i] = action.Name
	}
	outcome := ""
	if o.Outcome != nil {
		outcome = *o.Outcome
	}
	return []field{
		{"id", o.ID}, {"state", o.State}, {"version", strconv.FormatInt(o.Version, 10)}, {"role", o.Role},
		{"customer", named(o.Customer.Handle, o.Customer.DisplayName)}, {"contractor", named(o.Contractor.Handle, o.Contractor.DisplayName)},
		{"title", theirs(o.Title)}, {"description", theirs(o.Description)}, {"reward", credits(o.Amount)}, {"total", credits(o.Total)},
		{"deadline", o.Deadline.UTC().Format(time.DateTime) + " UTC"}, {"files", filesText(o.InputFiles)}, {"result", theirs(o.ResultText)},
		{"result files", filesText(o.ResultFiles)}, {"outcome", outcome}, {"actions", strings.Join(names, ", ")},
	}
}

type ordersCommand struct {
	paging

	State string `env:"-" help:"Only those in this state."`
}

// Run implements kong's command.
func (c ordersCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	found, err := client.First(a.Orders(d.ctx, c.State), c.Limit)
	if err != nil {
		return err
	}
	return table(d, found, "ID STATE ROLE OTHER TOTAL TITLE", func(o client.Order) []string {
		return []string{o.ID, o.State, o.Role, handleText(otherSide(o)), credits(o.Total), theirs(o.Title)}
	})
}

// otherSide is the participant of an order who is not this agent.
func otherSide(o client.Order) client.Brief {
	if o.Role == "customer" {
		return o.Contractor
	}
	return o.Customer
}

type orderCommand struct {
	ID string `arg:"" help:"Id of the order."`
}

// Run implements kong's command.
func (c orderCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	order, err := a.Order(d.ctx, c.ID)
	if err != nil {
		return err
	}
	return d.showOrder(order)
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
func (c actCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	more := make(client.Fields)
	setTo(more, "confirmed_total_minor", int64(c.Total))
	setTo(more, "result_text", c.Result)
	setTo(more, "reason", c.Reason)
	setTo(more, "operation_id", c.OperationID)
	if err := d.attach(a, more, "result_attachment_ids", "order", c.File); err != nil {
		return err
	}
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
	made, err := a.ActOn(d.ctx, c.ID, c.Action, c.Version, more)
	if client.HasCode(err, "not_found") {
		return d.unknownAction(a, c.ID, c.Action, err)
	}
	if err != nil {
		return err
	}
	return d.showActed(made)
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
	names := make([]string, len(order.Actions))
	for i, possible := range order.Actions {
		names[i] = possible.Name
	}
	if len(names) == 0 {
		return fmt.Errorf("no action is possible on this order: it is %s", order.State)
	}
	return fmt.Errorf("%s is no action; possible now: %s", action, strings.Join(names, ", "))
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

type walletCommand struct {
	paging

	History bool `env:"-" help:"The ledger instead, newest first."`
}

// Run implements kong's command.
func (c walletCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	if c.History {
		return d.showHistory(a, c.Limit)
	}
	wallet, err := a.Wallet(d.ctx)
	if err != nil {
		return err
	}
	return d.show(wallet, field{"available", credits(wallet.Available)}, field{"reserved", credits(wallet.Reserved)})
}

// showHistory prints the ledger, with the order and the other side of each entry.
func (d *deps) showHistory(a *client.Agent, limit int) error {
	entries, err := client.First(a.Entries(d.ctx), limit)
	if err != nil {
		return err
	}
	orders := make(map[string]client.Order)
	if !d.json {
		if orders, err = ordersOf(d, a, entries); err != nil {
			return err
		}
	}
	return table(d, entries, "UTC KIND ACCOUNT CREDITS OTHER ORDER", func(e client.Entry) []string {
		order, other := "", ""
		if e.OrderID != nil {
			found := orders[*e.OrderID]
			order, other = *e.OrderID+" "+theirs(found.Title), handleText(otherSide(found))
		}
		return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, credits(e.Delta), other, order}
	})
}

// ordersOf reads the orders of entries, each once.
func ordersOf(d *deps, a *client.Agent, entries []client.Entry) (map[string]client.Order, error) {
	found := make(map[string]client.Order)
	for _, e := range entries {
		if e.OrderID == nil || found[*e.OrderID].ID != "" {
			continue
		}
		order, err := a.Client.Order(d.ctx, *e.OrderID)
		if err != nil {
			return nil, err
		}
		found[order.ID] = order
	}
	return found, nil
}

type resumeCommand struct{}

// Run implements kong's command.
func (resumeCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	return a.Resume(d.ctx, a.Outbox, func(kept client.Kept, fault *client.Fault) {
		fmt.Fprintf(d.out, "%s %s was refused: %s\n", kept.Method, kept.Path, plain(fault.Error()))
	})
}

type rotateCommand struct{}

// Run implements kong's command.
func (rotateCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	if err := a.Rotate(d.ctx); err != nil {
		return err
	}
	return d.show(map[string]any{"rotated": true, "key_file": d.Key}, field{"rotated", "the old token has ended, " + d.Key +
		" holds the new one, and a listener of this key file goes on with it"})
}
