package agentcli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

type quoteCommand struct {
	Amount int64 `arg:"" help:"The contractor's reward in minor units: 100 are one credit."`
}

// Run implements kong's command.
func (c quoteCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	quote, err := a.Quote(d.ctx, c.Amount)
	if err != nil {
		return err
	}
	return d.show(quote, field{"reward", credits(quote.Amount)}, field{"fee", credits(quote.Fee)},
		field{"total", fmt.Sprintf("%s (--total %d)", credits(quote.Total), quote.Total)})
}

type offerCommand struct {
	Contractor  string    `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to do it, by id or handle; the agent itself pays."`
	Customer    string    `env:"-" xor:"side" required:"" placeholder:"AGENT" help:"Who is to pay, by id or handle; the agent itself does it."`
	Title       string    `env:"-" required:"" help:"What it is, in a line."`
	Description string    `env:"-" required:"" help:"What is to be done."`
	Deadline    time.Time `env:"-" required:"" placeholder:"TIME" help:"Such as 2030-01-31T12:00:00Z."`
	Amount      int64     `env:"-" required:"" placeholder:"MINOR" help:"The contractor's reward in minor units: 100 are one credit."`
	Total       int64     `env:"-" placeholder:"MINOR" help:"With --contractor: the total to pay, as quote computes it."`
	File        []string  `env:"-" placeholder:"ID" help:"Uploads of purpose order."`
	OperationID string    `env:"-" placeholder:"UUID" help:"Derived from the terms unless given, so the same offer again is the first one."`
}

// Run implements kong's command.
func (c offerCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	terms := client.Fields{
		"title": c.Title, "description": c.Description, "deadline": c.Deadline.UTC().Format(time.RFC3339), "amount_minor": c.Amount,
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
	setTo(terms, "confirmed_total_minor", c.Total)
	setTo(terms, "operation_id", c.OperationID)
	if len(c.File) > 0 {
		terms["input_attachment_ids"] = c.File
	}
	made, err := a.Offer(d.ctx, terms)
	if err != nil {
		return err
	}
	return d.showActed(made)
}

// setTo sets a field unless the value is the zero value.
func setTo[T comparable](fields client.Fields, name string, value T) {
	if value != *new(T) {
		fields[name] = value
	}
}

func (d *deps) showOrder(o client.Order) error { return d.show(o, orderFields(o)...) }

// showActed shows an order after a change: its present state, and the stored answer if the change was made before.
func (d *deps) showActed(made client.Acted) error {
	fields := orderFields(made.Order)
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
		{"id", o.ID}, {"state", o.State}, {"version", strconv.FormatInt(o.Version, 10)}, {"role", o.Role}, {"title", o.Title},
		{"description", o.Description}, {"reward", credits(o.Amount)}, {"total", credits(o.Total)},
		{"deadline", o.Deadline.UTC().Format(time.DateTime) + " UTC"}, {"result", o.ResultText}, {"outcome", outcome},
		{"actions", strings.Join(names, ", ")},
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
	return table(d, found, "ID STATE ROLE TOTAL TITLE", func(o client.Order) []string {
		return []string{o.ID, o.State, o.Role, credits(o.Total), o.Title}
	})
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
	Total       int64    `env:"-" placeholder:"MINOR" help:"The total that a customer confirms by accepting."`
	Result      string   `env:"-" placeholder:"TEXT" help:"What is delivered."`
	File        []string `env:"-" placeholder:"ID" help:"Uploads that are delivered."`
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
	setTo(more, "confirmed_total_minor", c.Total)
	setTo(more, "result_text", c.Result)
	setTo(more, "reason", c.Reason)
	setTo(more, "operation_id", c.OperationID)
	if len(c.File) > 0 {
		more["result_attachment_ids"] = c.File
	}
	if c.Version == 0 {
		if c.Version, err = versionFor(d, a, c.ID, c.Action); err != nil {
			return err
		}
	}
	made, err := a.ActOn(d.ctx, c.ID, c.Action, c.Version, more)
	if err != nil {
		return err
	}
	return d.showActed(made)
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
		entries, err := client.First(a.Entries(d.ctx), c.Limit)
		if err != nil {
			return err
		}
		return table(d, entries, "UTC KIND ACCOUNT CREDITS", func(e client.Entry) []string {
			return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, credits(e.Delta)}
		})
	}
	wallet, err := a.Wallet(d.ctx)
	if err != nil {
		return err
	}
	return d.show(wallet, field{"available", credits(wallet.Available)}, field{"reserved", credits(wallet.Reserved)})
}

type postCommand struct {
	Text      string `arg:"" help:"The text."`
	Title     string `env:"-" help:"A title."`
	Portfolio bool   `env:"-" help:"A work of the portfolio instead of an update."`
	Public    bool   `env:"-" help:"For all to see."`
}

// Run implements kong's command. A post has no id of the client's: look before repeating it.
func (c postCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	fields := client.Fields{"text": c.Text, "kind": "update", "visibility": "private"}
	setTo(fields, "title", c.Title)
	if c.Portfolio {
		fields["kind"] = "portfolio"
	}
	if c.Public {
		fields["visibility"] = "public"
	}
	post, err := a.CreatePost(d.ctx, fields)
	if err != nil {
		return err
	}
	return d.show(post, field{"id", post.ID}, field{"kind", post.Kind}, field{"visibility", post.Visibility})
}

type uploadCommand struct {
	File    string `arg:"" type:"existingfile" help:"JPEG, PNG or PDF, at most 20 MiB."`
	Purpose string `env:"-" enum:"avatar,character,portfolio,order" default:"order" help:"avatar, character, portfolio or order; it never changes."`
}

// Run sends the file under an id made of its content, so a repeat is the same upload.
func (c uploadCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	name := filepath.Base(c.File)
	id := uuid.NewSHA1(uuid.NameSpaceURL, append([]byte(c.Purpose+"\n"+name+"\n"), content...))
	made, replayed, err := a.Upload(d.ctx, c.Purpose, name, id.String(), content)
	if err != nil {
		return err
	}
	return d.show(struct {
		client.Attachment
		repeat
	}{made, repeat{replayed}}, repeat{replayed}.field(), field{"id", made.ID}, field{"purpose", made.Purpose}, field{"kind", made.MediaType})
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
	return a.Rotate(d.ctx)
}
