package agentcli

import (
	"cmp"
	"encoding/json"
	"errors"
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

	Contractor  string   `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to do it, by id or handle; the agent itself pays."`
	Customer    string   `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to pay, by id or handle; the agent itself does it."`
	Title       string   `env:"-" help:"What it is, in a line; with --service that of the service unless given."`
	Description string   `env:"-" required:"" help:"What is to be done."`
	Deadline    deadline `env:"-" required:"" placeholder:"TIME" help:"From now, such as 2h or 3d, or such as 2030-01-31T12:00:00Z."`
	Total       amount   `env:"-" placeholder:"CREDITS" help:"With --contractor: the total to pay; without it the server is asked and its answer confirmed."`
	File        []string `env:"-" placeholder:"FILE" help:"A file, which is uploaded, or the id of an upload of purpose order."`
	Service     string   `env:"-" placeholder:"ID" help:"With --contractor: the service of the contractor that this orders; title and price are its own unless given."`
	OperationID string   `env:"-" placeholder:"UUID" help:"Derived from the terms unless given, so the same offer again, with a deadline that is a date, is the first one."`
}

// Run implements kong's command.
func (c offerCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
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
	if err := d.attach(a, terms, "input_attachment_ids", "order", c.File); err != nil {
		return err
	}
	if c.Deadline.fromNow {
		if err := keptDeadline(a, terms); err != nil {
			return err
		}
	}
	made, err := a.Offer(d.ctx, terms)
	if err != nil {
		return err
	}
	return d.showActed(made, confirmed(c.Total))
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
	if c.Title == "" {
		return errors.New("name the order: --title, or --service for that of a service")
	}
	return nil
}

// confirmed shows the total that was confirmed, if one was.
func confirmed(total amount) field {
	if total == 0 {
		return field{}
	}
	return field{"confirmed", "a total of " + credits(int64(total)) + ", fee included"}
}

// setTo sets a field unless the value is the zero value.
func setTo[T comparable](fields client.Fields, name string, value T) {
	if value != *new(T) {
		fields[name] = value
	}
}

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
	return []field{
		{"id", o.ID}, {"state", o.State}, {"version", strconv.FormatInt(o.Version, 10)}, {"role", o.Role},
		{"customer", named(o.Customer.Handle, o.Customer.DisplayName)}, {"contractor", named(o.Contractor.Handle, o.Contractor.DisplayName)},
		{"title", theirs(o.Title)}, {"description", theirs(o.Description)}, {"reward", credits(o.Amount)}, {"total", credits(o.Total)},
		{"deadline", utc(o.Deadline)}, {"service", textOf(o.ServiceID)}, {"task", textOf(o.TaskID)},
		{"files", filesText(o.InputFiles)}, {"result", theirs(o.ResultText)},
		{"result files", filesText(o.ResultFiles)}, {"outcome", textOf(o.Outcome)},
		{"actions", actionNames(o.Actions)},
	}
}

func actionNames(actions []client.Action) string {
	names := make([]string, len(actions))
	for i, action := range actions {
		names[i] = action.Name
	}
	return strings.Join(names, ", ")
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
	return table(d, found, list[client.Order]{
		none: "No orders.", titles: "ID STATE ROLE OTHER AMOUNT DEADLINE-UTC TITLE",
		cells: func(o client.Order) []string {
			return []string{o.ID, o.State, o.Role, handleText(otherSide(o)), ownAmount(o), dayTime(o.Deadline), short(o.Title)}
		},
	})
}

// ownAmount says how much this side pays or gets.
func ownAmount(o client.Order) string {
	if o.Role == "customer" {
		return "pay " + credits(o.Total)
	}
	return "get " + credits(o.Amount)
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
	if d.json {
		return d.show(order)
	}
	drafts, err := client.First(a.Drafts(d.ctx, c.ID), 1)
	if err != nil {
		return err
	}
	return d.show(order, append(orderFields(order), besides(order, drafts)...)...)
}

// besides shows the drafts of an order, by the newest one, and the commands that are possible and no actions.
func besides(o client.Order, newest []client.Draft) []field {
	count, open, answer := "", false, "not answered"
	if len(newest) > 0 {
		if reply := newest[0].Reply; reply != nil {
			answer = "answered: " + reply.Verdict
		}
		open = newest[0].Reply == nil
		count = strconv.Itoa(newest[0].Number) + ", the newest " + answer + " (draft list)"
	}
	var also []string
	if o.State == "in_progress" && o.Role == "contractor" {
		also = append(also, "draft send")
	}
	if open && o.Role == "customer" {
		also = append(also, "draft reply")
	}
	if o.State == "closed" {
		also = append(also, "rate, once")
	}
	return []field{{"drafts", count}, {"also possible", strings.Join(also, ", ")}}
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
	return table(d, entries, list[client.Entry]{
		none: "No entries in the ledger.", titles: "UTC KIND ACCOUNT CREDITS FEE OTHER ORDER TITLE",
		cells: func(e client.Entry) []string {
			fee, other, order, title := "", "", "", ""
			if e.OrderID != nil {
				found := orders[*e.OrderID]
				if found.Role == "customer" && (e.Delta == found.Total || e.Delta == -found.Total) {
					fee = "with " + credits(found.Fee)
				}
				other, order, title = handleText(otherSide(found)), found.ID, short(found.Title)
			}
			return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, credits(e.Delta), fee, other, order, title}
		},
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
