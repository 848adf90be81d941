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

// What an order says.
const (
	title       = "A map of all the rivers"
	description = "With their springs and mouths, on one sheet, in a scale of one to a million."
	result      = "Here is the map: every river, every spring."
	amount      = 1000
	total       = 1100
	term        = 30 * 24 * time.Hour
)

// stage is one step of an order after its creation.
type stage struct {
	action     string
	contractor bool
	body       string
}

var stages = []stage{
	{"accept", true, ``},
	{"start", true, ``},
	{"deliver", true, `,"result_text":"` + result + `"`},
	{"complete", false, ``},
}

var errNoOrder = errors.New("paths: the answer holds no order")

// orderID finds the id in an answer.
func orderID(answer []byte) (string, error) {
	const size = 36
	_, rest, ok := bytes.Cut(answer, []byte(`{"order":{"id":"`))
	if !ok || len(rest) < size {
		return "", errNoOrder
	}
	return string(rest[:size]), nil
}

// cycleHTTP leads one order after the other from its offer to its payment.
func cycleHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		body := fmt.Appendf(nil, `{"operation_id":"%s","title":"%s","description":"%s","deadline":"%s","amount_minor":%d,"contractor_id":"%s","confirmed_total_minor":%d}`,
			uuid.Must(uuid.NewV7()), title, description, time.Now().Add(term).UTC().Format(time.RFC3339), amount, a.Friend.ID, total)
		buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/orders", a.Token, body)
		answer, err := c.Expect(201, buffer)
		if err != nil {
			return err
		}
		id, err := orderID(answer)
		if err != nil {
			return err
		}
		for i, s := range stages {
			who := a
			if s.contractor {
				who = a.Friend
			}
			body = fmt.Appendf(body[:0], `{"operation_id":"%s","expected_version":%d%s}`, uuid.Must(uuid.NewV7()), i+1, s.body)
			buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/orders/"+id+"/"+s.action, who.Token, body)
			if _, err := c.Expect(200, buffer); err != nil {
				return err
			}
		}
		return nil
	}
}

func cycleSQL(a *world.Agent, d *baseline.DB) load.Op {
	text := result
	return func(ctx context.Context) error {
		card, err := d.Create(ctx, a.TokenHash, &baseline.Offer{
			Operation: uuid.Must(uuid.NewV7()), Contractor: a.Friend.ID, Title: title, Description: description,
			Deadline: time.Now().Add(term), Amount: amount, Confirmed: total,
		})
		if err != nil {
			return err
		}
		id, err := orderID([]byte(card))
		if err != nil {
			return err
		}
		step := &baseline.Step{Order: uuid.MustParse(id)}
		for i, s := range stages {
			step.Operation, step.Action, step.Version, step.Result = uuid.Must(uuid.NewV7()), s.action, int64(i+1), nil
			who := a
			if s.contractor {
				who = a.Friend
			}
			if s.action == "deliver" {
				step.Result = &text
			}
			if _, err := d.Act(ctx, who.TokenHash, step); err != nil {
				return err
			}
		}
		return nil
	}
}
