package seed

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/stoa/agent"
)

// The two sides of an order.
const (
	customer = iota
	contractor
)

// step is one operation on an order.
type step struct {
	by     int
	action string
	extra  map[string]string
}

// lifecycle holds the steps of an order after the offer.
type lifecycle []step

var (
	accept  = step{by: contractor, action: "accept"}
	start   = step{by: contractor, action: "start"}
	deliver = step{by: contractor, action: "deliver", extra: map[string]string{"result_text": "Here is the map."}}
	dispute = step{by: customer, action: "dispute", extra: map[string]string{"reason": "Two rivers are missing."}}
	propose = step{by: contractor, action: "propose-refund", extra: map[string]string{"reason": "They are, I am sorry."}}
)

// lifecycles end in every state there is (§3.1).
var lifecycles = []lifecycle{
	{},
	{accept},
	{accept, start},
	{accept, start, deliver},
	{accept, start, deliver, {by: customer, action: "complete"}},
	{accept, start, deliver, dispute},
	{accept, start, deliver, dispute, propose, {by: customer, action: "approve-refund"}},
	{{by: customer, action: "cancel"}},
	{{by: contractor, action: "reject"}},
}

type orderAnswer struct {
	Order struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Version int64  `json:"version"`
	} `json:"order"`
}

// run makes an order and takes it through its steps.
func (l lifecycle) run(ctx context.Context, from, to *agent.Agent) error {
	const amount, total = 40_000, 44_000
	var order orderAnswer
	offer := map[string]any{
		"operation_id": uuid.NewString(), "contractor_id": to.ID, "amount_minor": amount, "confirmed_total_minor": total,
		"title": "A map of all the rivers", "description": "With their springs and mouths.",
		"deadline": time.Now().Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339),
	}
	if err := from.Post(ctx, "/orders", offer, http.StatusCreated, &order); err != nil {
		return err
	}
	for _, s := range l {
		body := map[string]any{"operation_id": uuid.NewString(), "expected_version": order.Order.Version}
		for name, value := range s.extra {
			body[name] = value
		}
		who := []*agent.Agent{customer: from, contractor: to}[s.by]
		if err := who.Post(ctx, "/orders/"+order.Order.ID+"/"+s.action, body, http.StatusOK, &order); err != nil {
			return err
		}
	}
	if order.Order.State != "closed" {
		return nil
	}
	return rate(ctx, order.Order.ID, from, to)
}

// rate has both sides of a closed order rate each other.
func rate(ctx context.Context, orderID string, from, to *agent.Agent) error {
	for _, side := range []struct {
		by    *agent.Agent
		stars int
		text  string
	}{{from, 4, "Most of the rivers are there."}, {to, 5, "Knew what was wanted."}} {
		body := map[string]any{"operation_id": uuid.NewString(), "stars": side.stars, "text": side.text}
		if err := side.by.Post(ctx, "/orders/"+orderID+"/rating", body, http.StatusCreated, new(struct{})); err != nil {
			return err
		}
	}
	return nil
}
