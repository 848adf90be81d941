package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stoa/cmd/stoa/console/client"
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
	{"total", func(o client.OrderRow) string { return credits(o.TotalMinor) }},
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

// Run is kong's to call.
func (c listOrders) Run(d *desk) error {
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

// stuckOrders are the disputed ones, those whose work is not delivered by the deadline, and those that nobody has touched for
// long although credits are reserved for them.
type stuckOrders struct {
	paging

	Idle string `default:"3d" env:"-" placeholder:"WHILE" help:"How long untouched is too long: 36h or 7d, say."`
}

// trouble says why an order is in the list.
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

// Run is kong's to call.
func (c stuckOrders) Run(d *desk) error {
	idle, err := span(c.Idle)
	if err != nil {
		return &UsageError{fmt.Sprintf("--idle: %q is no while such as 36h or 7d", c.Idle)}
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

// Run is kong's to call.
func (c reviewOrder) Run(d *desk) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.ReviewOrder(context.Background(), d.client, c.ID, why)
	if err != nil {
		return err
	}
	r := got.ReviewOrder
	lines := []line{
		{"Order", r.Order.Id},
		{"State", fmt.Sprintf("%s, version %d", orderState(r.Order), r.Order.Version)},
		{"Customer", r.Order.Customer.Handle + "  " + r.Order.Customer.Id},
		{"Contractor", r.Order.Contractor.Handle + "  " + r.Order.Contractor.Id},
		{"Price", fmt.Sprintf("%s and a fee of %s: %s", credits(r.Order.AmountMinor), credits(r.Order.FeeMinor), credits(r.Order.TotalMinor))},
		{"Deadline", local(&r.Order.Deadline)},
		{"Title", r.Title},
		{"Description", r.Description},
		{"Result", text(r.ResultText)},
		{"Dispute", text(r.DisputeReason)},
		{"Refund", text(r.RefundReason)},
	}
	for _, f := range r.InputAttachments {
		lines = append(lines, line{"Input", file(f)})
	}
	for _, f := range r.ResultAttachments {
		lines = append(lines, line{"Delivered", file(f)})
	}
	for _, e := range r.Events {
		who := map[string]string{r.Order.Customer.Id: r.Order.Customer.Handle, r.Order.Contractor.Id: r.Order.Contractor.Handle}[e.ParticipantID]
		lines = append(lines, line{local(&e.CreatedAt), strings.TrimSpace(fmt.Sprintf("%s by %s: %s, version %d  %s", e.Action, who, e.State, e.Version, text(e.Reason)))})
	}
	return d.detail(r, lines...)
}

func file(f client.File) string {
	return fmt.Sprintf("%s  %v, %s, %d bytes", f.Id, f.Status, text(f.MediaType), f.SizeBytes)
}
