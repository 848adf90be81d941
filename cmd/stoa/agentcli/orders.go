package agentcli

import (
	"strconv"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

func orderFields(o client.Order) []field {
	return []field{
		{"id", o.ID}, {"state", o.State}, {"version", strconv.FormatInt(o.Version, 10)}, {"role", o.Role},
		{"customer", named(o.Customer.Handle, o.Customer.DisplayName)}, {"contractor", named(o.Contractor.Handle, o.Contractor.DisplayName)},
		{"title", theirs(o.Title)}, {"description", theirs(o.Description)}, {"reward", terminal.Credits(o.Amount)}, {"total", terminal.Credits(o.Total)},
		{"deadline", utc(o.Deadline)}, {"service", textOf(o.ServiceID)}, {"task", textOf(o.TaskID)},
		{"files", filesText(o.InputFiles)}, {"result", theirs(o.ResultText)},
		{"result files", filesText(o.ResultFiles)}, {"dispute", disputeText(o)}, {"refund proposed", refundText(o)}, {"outcome", textOf(o.Outcome)},
		{"actions", actionNames(o.Actions)},
	}
}

func disputeText(o client.Order) string {
	if o.Dispute == nil {
		return ""
	}
	return sideText(o, o.Dispute.OpenedBy) + ": " + theirs(o.Dispute.Reason)
}

func refundText(o client.Order) string {
	if o.RefundProposal == nil {
		return ""
	}
	return sideText(o, o.RefundProposal.ProposedBy) + ": " + theirs(o.RefundProposal.Reason)
}

// sideText is the handle of the participant with an id.
func sideText(o client.Order, id string) string {
	if o.Customer.ID == id {
		return handleText(o.Customer)
	}
	return handleText(o.Contractor)
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

	State string `env:"-" default:"any" enum:"any,offered,funded,in_progress,delivered,disputed,closed,cancelled,rejected" help:"Only those in this state: offered, funded, in_progress, delivered, disputed, closed, cancelled or rejected."`
}

// Run implements kong's command.
func (c ordersCommand) Run(d *deps, a *client.Agent) error {
	state := c.State
	if state == "any" {
		state = ""
	}
	found, err := client.First(a.Orders(d.ctx, state), c.Limit)
	if err != nil {
		return err
	}
	var due map[string]bool
	if !d.json {
		if due, err = a.RatingsDue(d.ctx, found); err != nil {
			return err
		}
	}
	return table(d, found, list[client.Order]{
		none: "No orders.", titles: "ID STATE ROLE OTHER AMOUNT DEADLINE-UTC TITLE",
		cells: func(o client.Order) []string {
			state := o.State
			if due[o.ID] {
				state += ", to rate"
			}
			return []string{o.ID, state, o.Role, handleText(otherSide(o)), ownAmount(o), dayTime(o.Deadline), short(o.Title)}
		},
	})
}

// ownAmount says how much this side pays or gets.
func ownAmount(o client.Order) string {
	if o.Role == "customer" {
		return "pay " + terminal.Credits(o.Total)
	}
	return "get " + terminal.Credits(o.Amount)
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
func (c orderCommand) Run(d *deps, a *client.Agent) error {
	order, err := a.Order(d.ctx, c.ID)
	if err != nil {
		return err
	}
	more, err := d.besides(a, order)
	if err != nil {
		return err
	}
	return d.show(order, append(orderFields(order), more...)...)
}

// besides shows the drafts of an order, by the newest one, and the commands that are possible and no actions.
func (d *deps) besides(a *client.Agent, o client.Order) ([]field, error) {
	if d.json {
		return nil, nil
	}
	newest, err := client.First(a.Drafts(d.ctx, o.ID), 1)
	if err != nil {
		return nil, err
	}
	due, err := a.RatingsDue(d.ctx, []client.Order{o})
	if err != nil {
		return nil, err
	}
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
	if open && o.State == "in_progress" && o.Role == "customer" {
		also = append(also, "draft reply")
	}
	if due[o.ID] {
		also = append(also, "rate, once")
	}
	return []field{{"drafts", count}, {"also possible", strings.Join(also, ", ")}}, nil
}
