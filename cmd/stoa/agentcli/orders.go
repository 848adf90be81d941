package agentcli

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// page and cursorPage are the most rows of an answer, for a page list and a cursor list (§1.5).
const page, cursorPage = 50, 100

var orders = view[client.Order]{
	name: "order", list: "orders",
	fields: func(_ *call, o client.Order) []field {
		dispute, refund := "", ""
		if o.Dispute != nil {
			dispute = sideText(o, o.Dispute.OpenedBy) + ": " + theirs(o.Dispute.Reason)
		}
		if o.RefundProposal != nil {
			refund = sideText(o, o.RefundProposal.ProposedBy) + ": " + theirs(o.RefundProposal.Reason)
		}
		return []field{
			{"id", o.ID}, {"state", o.State}, {"version", strconv.FormatInt(o.Version, 10)}, {"role", o.Role},
			{"customer", named(o.Customer)}, {"contractor", named(o.Contractor)}, {"title", theirs(o.Title)}, {"description", theirs(o.Description)},
			{"reward", terminal.Credits(o.Amount)}, {"total", terminal.Credits(o.Total)}, {"deadline", utc(o.Deadline)},
			{"service", textOf(o.ServiceID)}, {"task", textOf(o.TaskID)}, {"files", filesText(o.InputFiles)}, {"result", theirs(o.ResultText)},
			{"result files", filesText(o.ResultFiles)}, {"dispute", dispute}, {"refund proposed", refund}, {"outcome", textOf(o.Outcome)},
			{"actions", actionNames(o.Actions)},
		}
	},
	none: "No orders.", titles: "ID STATE ROLE OTHER AMOUNT DEADLINE-UTC TITLE",
}

func sideText(o client.Order, id string) string {
	if o.Customer.ID == id {
		return handleText(o.Customer)
	}
	return handleText(o.Contractor)
}

func otherSide(o client.Order) client.Brief {
	if o.Role == "customer" {
		return o.Contractor
	}
	return o.Customer
}

func priceText(o client.Order) string {
	if o.Role == "customer" {
		return "pay " + terminal.Credits(o.Total)
	}
	return "get " + terminal.Credits(o.Amount)
}

func actionNames(actions []client.Action) string {
	names := make([]string, len(actions))
	for i, action := range actions {
		names[i] = action.Name
	}
	return strings.Join(names, ", ")
}

func quote(c *call) error {
	reward, err := c.reward()
	if err != nil {
		return err
	}
	return request(c, view[client.Quote]{name: "quote", fields: func(_ *call, q client.Quote) []field {
		total := terminal.Credits(q.Total)
		return []field{{"reward", terminal.Credits(q.Amount)}, {"fee", terminal.Credits(q.Fee)}, {"total", total + " (--total " + total + ")"}}
	}}, http.MethodPost, "/orders/quote", client.Fields{"amount_minor": reward})
}

// everyOrder iterates over the agent's orders in a state, empty for all, newest first, in pages of the largest size.
func (c *call) everyOrder(state string) iter.Seq2[client.Order, error] {
	asked := url.Values{"page_size": {strconv.Itoa(page)}}
	if state != "" {
		asked.Set("state", state)
	}
	return client.List[client.Order](c.ctx, c.client, "/orders", "orders", asked)
}

func listOrders(c *call) error {
	found, err := client.First(c.client.Orders(c.ctx, strings.TrimPrefix(c.text("state"), "any")), c.number("limit"))
	if err != nil {
		return err
	}
	var due map[string]bool
	if !c.json {
		if due, err = c.agent.RatingsDue(c.ctx, found); err != nil {
			return err
		}
	}
	v := orders
	v.cells = func(o client.Order) []string {
		state := o.State
		if due[o.ID] {
			state += ", to rate"
		}
		return []string{o.ID, state, o.Role, handleText(otherSide(o)), priceText(o), dayTime(o.Deadline), short(o.Title)}
	}
	return v.table(c, found)
}

func showOrder(c *call) error {
	order, err := c.agent.Order(c.ctx, c.text("order"))
	if err != nil {
		return err
	}
	more, err := c.besides(order)
	if err != nil {
		return err
	}
	return c.show(order, append(orders.fields(c, order), more...)...)
}

// besides shows the drafts of an order, by the newest one, and the possible commands that are not actions.
func (c *call) besides(o client.Order) ([]field, error) {
	if c.json {
		return nil, nil
	}
	newest, err := c.newestDraft(o.ID)
	if err != nil {
		return nil, err
	}
	due, err := c.agent.RatingsDue(c.ctx, []client.Order{o})
	if err != nil {
		return nil, err
	}
	count, open := "", newest != nil && newest.Reply == nil
	switch {
	case open:
		count = strconv.Itoa(newest.Number) + ", the newest not answered (draft list)"
	case newest != nil:
		count = strconv.Itoa(newest.Number) + ", the newest answered: " + newest.Reply.Verdict + " (draft list)"
	}
	var also []string
	if o.State == client.StateInProgress && o.Role == "contractor" {
		also = append(also, "draft send")
	}
	if open && o.State == client.StateInProgress && o.Role == "customer" {
		also = append(also, "draft reply")
	}
	if due[o.ID] {
		also = append(also, "rate, once")
	}
	return []field{{"drafts", count}, {"also possible", strings.Join(also, ", ")}}, nil
}

var drafts = view[client.Draft]{
	name: "draft", list: "drafts",
	fields: func(_ *call, r client.Draft) []field {
		return []field{{"id", r.ID}, {"number", strconv.Itoa(r.Number)}, {"text", theirs(textOf(r.Text))}, {"files", filesText(r.Files)},
			{"reply", replyText(r.Reply)}}
	},
	none: "No drafts of this order.", titles: "NUMBER ID UTC REPLY",
	cells: func(r client.Draft) []string {
		verdict := "none yet"
		if r.Reply != nil {
			verdict = r.Reply.Verdict
		}
		return []string{strconv.Itoa(r.Number), r.ID, dayTime(r.CreatedAt), verdict}
	},
	below: func(_ *call, r client.Draft) string {
		reply := replyText(r.Reply)
		if reply != "" {
			reply = "reply: " + reply
		}
		return blocks(theirs(textOf(r.Text)), filesText(r.Files), reply)
	},
}

func replyText(r *client.DraftReply) string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(r.Verdict + " " + theirs(textOf(r.Text)))
}

func (c *call) newestDraft(orderID string) (*client.Draft, error) {
	newest, err := client.First(c.client.Drafts(c.ctx, orderID), 1)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	return &newest[0], nil
}

func sendDraft(c *call) error {
	body := c.body()
	var made client.Draft
	var replayed bool
	err := c.changeWith(body, "attachment_ids", func() (err error) {
		made, replayed, err = client.Act[client.Draft](c.ctx, c.agent, c.target("/orders/{order}/drafts"), drafts.name, body)
		return err
	})
	return drafts.replay(c, made, replayed, err)
}

func replyToDraft(c *call) error {
	if !c.has("draft") {
		newest, err := c.newestDraft(c.text("order"))
		if err != nil {
			return err
		}
		if newest == nil {
			return fmt.Errorf("order %s has no draft", c.text("order"))
		}
		c.given["draft"] = newest.ID
	}
	made, replayed, err := client.Act[client.Draft](c.ctx, c.agent, c.target("/orders/{order}/drafts/{draft}/reply"), drafts.name, c.body())
	return drafts.replay(c, made, replayed, err)
}
