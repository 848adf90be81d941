package operatorcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/stoa/operatorcli/client"
)

type ordersCommand struct {
	List   listOrders  `cmd:"" default:"withargs" help:"List orders, newest first."`
	Stuck  stuckOrders `cmd:"" help:"List orders that somebody should look at, the longest waiting first."`
	Review reviewOrder `cmd:"" help:"Look into an order: its texts, files, reasons and history."`
	File   orderFile   `cmd:"" help:"Save one of the files that review lists."`
}

type listOrders struct {
	paging

	State string `enum:"offered,funded,in_progress,delivered,disputed,closed,cancelled,rejected," default:"" env:"-" placeholder:"STATE" help:"offered, funded, in_progress, delivered, disputed, closed, cancelled or rejected."`
	Bot   string `env:"-" help:"Only those of this agent: its id or handle."`
}

var orderColumns = []column[client.OrderRow]{
	{"id", func(o client.OrderRow) string { return o.Id }},
	{"state", orderState},
	{"customer", func(o client.OrderRow) string { return o.Customer.Handle }},
	{"contractor", func(o client.OrderRow) string { return o.Contractor.Handle }},
	{"total", func(o client.OrderRow) string { return formatCredits(o.TotalMinor) }},
	{"deadline", func(o client.OrderRow) string { return ago(o.Deadline) }},
	{"age", func(o client.OrderRow) string { return ago(o.CreatedAt) }},
	{"idle", func(o client.OrderRow) string { return ago(o.UpdatedAt) }},
}

func orderState(o client.OrderRow) string {
	if o.Outcome != nil {
		return string(o.State) + ", " + string(*o.Outcome)
	}
	return string(o.State)
}

// Run implements kong's command.
func (c listOrders) Run(d *deps) error {
	states := client.AllOrderState
	if c.State != "" {
		states = []client.OrderState{client.OrderState(c.State)}
	}
	var bot *string
	if c.Bot != "" {
		id, err := target{c.Bot}.id(d)
		if err != nil {
			return err
		}
		bot = &id
	}
	type edge = *client.ListOrdersOrdersOrderConnectionEdgesOrderEdge
	rows, err := collect[client.OrderRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListOrders(context.Background(), d.client, first, after, states, bot)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Orders.Edges, got.Orders.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, orderColumns)
}

// stuckOrders lists orders that are disputed, past their deadline undelivered, or unchanged for long with reserved credits.
type stuckOrders struct {
	paging

	Idle string `default:"3d" env:"-" placeholder:"WHILE" help:"How long untouched is too long: 36h or 7d, say."`
}

// trouble says why an order is listed as stuck.
func trouble(o client.OrderRow) string {
	switch {
	case o.State == client.OrderStateDisputed && o.RefundProposedAt != nil:
		return "disputed, refund proposed"
	case o.State == client.OrderStateDisputed:
		return "disputed"
	case o.State == client.OrderStateDelivered:
		return "not accepted"
	case o.Deadline.Before(time.Now()):
		return "past its deadline"
	default:
		return "untouched"
	}
}

// Run implements kong's command.
func (c stuckOrders) Run(d *deps) error {
	idle, err := parseDuration(c.Idle)
	if err != nil {
		return &UsageError{fmt.Sprintf("--idle: %q is no duration such as 36h or 7d", c.Idle)}
	}
	now := time.Now().UTC().Truncate(time.Second)
	type edge = *client.ListStuckOrdersOrdersOrderConnectionEdgesOrderEdge
	rows, err := collect[client.OrderRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListStuckOrders(context.Background(), d.client, first, after, now, now.Add(-idle))
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Orders.Edges, got.Orders.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, append([]column[client.OrderRow]{{"trouble", trouble}}, orderColumns...))
}

type reviewOrder struct {
	reason

	ID string `arg:"" help:"Id of the order."`
}

// Run implements kong's command.
func (c reviewOrder) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.ReviewOrder(context.Background(), d.client, c.ID, why)
	if err != nil {
		return err
	}
	r := got.ReviewOrder
	fields := []field{
		{"Order", r.Order.Id},
		{"State", fmt.Sprintf("%s, version %d", orderState(r.Order), r.Order.Version)},
		{"Customer", r.Order.Customer.Handle + "  " + r.Order.Customer.Id},
		{"Contractor", r.Order.Contractor.Handle + "  " + r.Order.Contractor.Id},
		{"Price", fmt.Sprintf("%s and a fee of %s: %s",
			formatCredits(r.Order.AmountMinor), formatCredits(r.Order.FeeMinor), formatCredits(r.Order.TotalMinor))},
		{"Deadline", formatTime(&r.Order.Deadline)},
		{"Title", r.Title},
		{"Description", r.Description},
		{"Result", deref(r.ResultText)},
		{"Dispute", deref(r.DisputeReason)},
		{"Refund", deref(r.RefundReason)},
	}
	for _, f := range r.InputAttachments {
		fields = append(fields, field{"Input", file(f)})
	}
	for _, f := range r.ResultAttachments {
		fields = append(fields, field{"Delivered", file(f)})
	}
	handles := map[string]string{r.Order.Customer.Id: r.Order.Customer.Handle, r.Order.Contractor.Id: r.Order.Contractor.Handle}
	for _, e := range r.Events {
		who := handles[e.ParticipantID]
		fields = append(fields, field{formatTime(&e.CreatedAt), strings.TrimSpace(fmt.Sprintf("%s by %s: %s, version %d  %s",
			e.Action, who, e.State, e.Version, deref(e.Reason)))})
	}
	return d.detail(r, fields...)
}

func file(f client.File) string {
	return fmt.Sprintf("%s  %v, %s, %d bytes", f.Id, f.Status, deref(f.MediaType), f.SizeBytes)
}

type orderFile struct {
	reason

	Order string `arg:"" help:"Id of the order."`
	File  string `arg:"" help:"Id of the file."`
	To    string `required:"" env:"-" placeholder:"PATH" help:"Where to put it; what is there already stays."`
}

// savedFile is a file of an order that was saved.
type savedFile struct {
	ID        string `json:"id"`
	Path      string `json:"path"`
	SizeBytes int    `json:"sizeBytes"` //nolint:tagliatelle // as GraphQL has it
}

// Run implements kong's command. It creates the target file before it reads the order, since each review is audited.
func (c orderFile) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	place, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &UsageError{fmt.Sprintf("--to: %s is there already", c.To)}
	}
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	saved, err := c.save(d, place, why)
	if err = errors.Join(err, place.Close()); err != nil {
		return errors.Join(err, os.Remove(c.To))
	}
	return d.detail(saved, field{"File", saved.ID}, field{"Saved as", saved.Path}, field{"Bytes", strconv.Itoa(saved.SizeBytes)})
}

func (c orderFile) save(d *deps, place *os.File, why string) (savedFile, error) {
	got, err := client.ReadOrderFile(context.Background(), d.client, c.Order, c.File, why)
	if err != nil {
		return savedFile{}, err
	}
	var raw []byte
	if sent := got.ReviewOrder.File; sent != nil {
		raw = *sent
	}
	_, err = place.Write(raw)
	return savedFile{c.File, c.To, len(raw)}, err
}
