package agentcli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type deadline struct {
	at      time.Time
	fromNow bool
}

var (
	fromNow = regexp.MustCompile(`^(\d{1,4})([mhdw])$`)
	units   = map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
)

func (f *deadline) UnmarshalText(text []byte) error {
	if parts := fromNow.FindStringSubmatch(string(text)); parts != nil {
		count, err := strconv.Atoi(parts[1])
		*f = deadline{time.Now().Add(time.Duration(count) * units[parts[2]]), true}
		return err
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%q must be a time from now, such as 30m, 2h, 3d or 1w, or a time such as 2030-01-31T12:00:00Z", text)
	}
	*f = deadline{at, false}
	return nil
}

func (f deadline) MarshalText() ([]byte, error) {
	return f.at.UTC().AppendFormat(nil, time.RFC3339), nil
}

func offer(c *call) error {
	if c.has("customer") && c.has("service") { // its agent is the contractor
		return terminal.UsageError("--service works only with --contractor: it names a service of that agent")
	}
	if err := c.connect(); err != nil {
		return err
	}
	terms := c.body()
	ownPrice := terms["amount_minor"] != nil
	if err := c.takeService(terms); err != nil {
		return err
	}
	reward, named := terms["amount_minor"].(int64)
	if !named {
		_, err := c.reward()
		return err
	}
	side, handle := "contractor_id", c.text("contractor")
	if handle == "" {
		side, handle = "customer_id", c.text("customer")
	}
	other, err := c.find(handle)
	if err != nil {
		return err
	}
	terms[side] = other.ID
	if side == "contractor_id" && !c.has("total") {
		quote, err := c.client.Quote(c.ctx, reward)
		if err != nil {
			return err
		}
		if !ownPrice {
			return unconfirmed(quote.Total)
		}
		terms["confirmed_total_minor"] = quote.Total
	}
	var made client.Acted
	err = c.changeWith(terms, "input_attachment_ids", func() (err error) {
		if valueOf[deadline](c, "deadline").fromNow {
			if err := keptDeadline(c.agent, terms); err != nil {
				return err
			}
		}
		made, err = c.agent.Offer(c.ctx, client.OrderInput{More: terms})
		return err
	})
	return c.showActed(made, terms["confirmed_total_minor"], err)
}

// unconfirmed refuses to pay a price that another agent has set unless --total confirms it: the price may be new.
func unconfirmed(total int64) error {
	written := terminal.Credits(total)
	return fmt.Errorf("nothing was done: you would pay %s, fee included; confirm it with --total %[1]s", written)
}

// takeService fills missing values of the command from the service.
func (c *call) takeService(terms client.Fields) error {
	if c.has("service") && (c.text("title") == "" || terms["amount_minor"] == nil) {
		service, err := c.client.Service(c.ctx, c.text("service"))
		if err != nil {
			return err
		}
		if c.text("title") == "" {
			terms["title"] = service.Title
		}
		if terms["amount_minor"] == nil && service.Amount != nil {
			terms["amount_minor"] = *service.Amount
		}
	}
	switch title, _ := terms["title"].(string); {
	case title != "":
		return nil
	case c.has("customer"):
		return terminal.UsageError("name the order: --title")
	}
	return terminal.UsageError("name the order: --title, or --service for the title of a service")
}

// keptDeadline replaces a deadline relative to now by the deadline of an unanswered offer with the same terms, or of an offer
// with the given operation_id. So the same command after a crash is the same request.
func keptDeadline(a *client.Agent, terms client.Fields) error {
	waiting, err := a.Outbox.Waiting()
	id, named := terms["operation_id"].(string)
	if named && err == nil {
		var kept client.Kept
		kept, _, err = a.Outbox.Find(id)
		waiting = append(waiting, kept)
	}
	for _, kept := range waiting {
		var body client.Fields
		if kept.Path == "/orders" && json.Unmarshal(kept.Body, &body) == nil && termsOf(body, named) == termsOf(terms, named) {
			terms["deadline"] = body["deadline"]
		}
	}
	return err
}

// termsOf returns the terms of an offer as JSON, without the deadline, and with the operation id only if it was named.
func termsOf(offer client.Fields, named bool) string {
	terms := maps.Clone(offer)
	delete(terms, "deadline")
	if !named {
		delete(terms, "operation_id")
	}
	text, _ := json.Marshal(terms) //nolint:errchkjson // an offer can be encoded
	return string(text)
}

// showActed shows an order after a change, in its current state, with the confirmed total if there is one, and with the stored
// answer if the change was made before.
func (c *call) showActed(made client.Acted, total any, err error) error {
	if err != nil {
		return err
	}
	more, err := c.besides(made.Order)
	if err != nil { // the change was made even if this fails
		more = []field{{"also possible", "not known: " + Explain(err).Error()}}
	}
	answered, confirmed, added := "", "", client.Fields{"replayed": made.Replayed}
	if minor, ok := total.(int64); ok {
		confirmed = "a total of " + terminal.Credits(minor) + ", fee included"
	}
	if made.Replayed {
		added["stored"] = made.Stored.JSON()
		now := "the order is now as follows"
		ended := made.State == client.StateCancelled || made.State == client.StateRejected
		if ended && made.Stored.State == client.StateOffered {
			now = "the order is " + made.State + ": another --operation-id offers it anew"
		}
		answered = fmt.Sprintf("nothing was done now: this was done before and answered %s, version %d; %s",
			made.Stored.State, made.Stored.Version, now)
	}
	fields := slices.Concat([]field{{"replayed", answered}, {"confirmed", confirmed}}, orders.fields(c, made.Order), more)
	return c.showWith(made.Order, added, fields...)
}

// act sends the unanswered request of this action, if there is one, or a new one.
func act(c *call) error {
	orderID, action, more := c.text("order"), c.text("action"), c.body()
	if action == client.ActionAccept && !c.has("total") {
		order, err := c.agent.Order(c.ctx, orderID)
		if err != nil {
			return err
		}
		if order.Role == "customer" && hasAction(order.Actions, action) {
			return unconfirmed(order.Total)
		}
	}
	version, given := c.given["version"].(int64)
	if !given {
		var err error
		if version, err = c.versionFor(orderID, action); err != nil {
			return err
		}
	}
	var made client.Acted
	err := c.changeWith(more, "result_attachment_ids", func() (err error) {
		made, err = c.agent.ActOn(c.ctx, orderID, action, version, more)
		return err
	})
	if client.HasCode(err, "not_found") { // the order, or the action
		switch order, unknown := c.agent.Order(c.ctx, orderID); {
		case unknown != nil:
		case len(order.Actions) == 0:
			err = fmt.Errorf("no action is possible on this order: it is %s", order.State)
		default:
			err = fmt.Errorf("%s is no action; possible now: %s", action, actionNames(order.Actions))
		}
	}
	return c.showActed(made, nil, err)
}

// versionFor returns the version that an unanswered request of this action expected, otherwise the order's.
func (c *call) versionFor(orderID, action string) (int64, error) {
	waiting, err := c.agent.Outbox.Waiting()
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
	order, err := c.agent.Order(c.ctx, orderID)
	return order.Version, err
}
