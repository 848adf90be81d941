package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// The fields of an order.
const (
	title       = "A map of all the rivers"
	description = "With their springs and mouths, on one sheet, in a scale of one to a million."
	result      = "Here is the map: every river, every spring."
	amount      = 1000
	total       = 1100
	duration    = 30 * 24 * time.Hour
)

// action follows the creation of an order; body holds the fields that its request adds.
type action struct {
	name         string
	byContractor bool
	body         string
}

var actions = []action{
	{"accept", true, ``},
	{"start", true, ``},
	{"deliver", true, `,"result_text":"` + result + `"`},
	{"complete", false, ``},
}

var errNoOrder = errors.New("scenarios: the response has no order")

// orderID returns the id of the order in a response.
func orderID(answer []byte) (string, error) {
	const size = 36
	_, rest, ok := bytes.Cut(answer, []byte(`{"order":{"id":"`))
	if !ok || len(rest) < size {
		return "", errNoOrder
	}
	return string(rest[:size]), nil
}

// orderHTTP takes an order from its creation to its payment.
func orderHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		body := fmt.Appendf(nil, `{"operation_id":"%s","title":"%s","description":"%s","deadline":"%s",`+
			`"amount_minor":%d,"contractor_id":"%s","confirmed_total_minor":%d}`,
			uuid.Must(uuid.NewV7()), title, description, time.Now().Add(duration).UTC().Format(time.RFC3339), amount, a.Friend.ID, total)
		buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/orders", a.Token, body)
		answer, err := c.Expect(201, buffer)
		if err != nil {
			return err
		}
		id, err := orderID(answer)
		if err != nil {
			return err
		}
		for i, act := range actions {
			who := a
			if act.byContractor {
				who = a.Friend
			}
			body = fmt.Appendf(body[:0], `{"operation_id":"%s","expected_version":%d%s}`, uuid.Must(uuid.NewV7()), i+1, act.body)
			buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/orders/"+id+"/"+act.name, who.Token, body)
			if _, err := c.Expect(200, buffer); err != nil {
				return err
			}
		}
		return nil
	}
}

func orderDirect(a *world.Agent, d *baseline.DB) load.Op {
	text := result
	return func(ctx context.Context) error {
		card, err := d.Create(ctx, a.TokenHash, &baseline.NewOrder{
			OperationID: uuid.Must(uuid.NewV7()), ContractorID: a.Friend.ID, Title: title, Description: description,
			Deadline: time.Now().Add(duration), Amount: amount, ConfirmedTotal: total,
		})
		if err != nil {
			return err
		}
		id, err := orderID([]byte(card))
		if err != nil {
			return err
		}
		step := &baseline.OrderAction{OrderID: uuid.MustParse(id)}
		for i, act := range actions {
			step.OperationID, step.Name, step.ExpectedVersion, step.Result = uuid.Must(uuid.NewV7()), act.name, int64(i+1), nil
			who := a
			if act.byContractor {
				who = a.Friend
			}
			if act.name == "deliver" {
				step.Result = &text
			}
			if _, err := d.Act(ctx, who.TokenHash, step); err != nil {
				return err
			}
		}
		return nil
	}
}
