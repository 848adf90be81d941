package demo

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/stoa/agent"
)

const (
	reward = 250_000
	fee    = 25_000
	total  = reward + fee
)

type card struct {
	ID      string  `json:"id"`
	State   string  `json:"state"`
	Version int64   `json:"version"`
	Outcome *string `json:"outcome"`
}

type orderAnswer struct {
	Order card `json:"order"`
}

type orderEvent struct {
	OrderID string `json:"order_id"`
	Status  string `json:"status"`
	Version int64  `json:"version"`
}

// order goes from a quote to the payment (§3.1).
func order(ctx context.Context, s *story) error {
	var quoted struct {
		Quote struct {
			FeeMinor   int64 `json:"fee_minor"`
			TotalMinor int64 `json:"total_minor"`
		} `json:"quote"`
	}
	if err := s.ada.Post(ctx, "/orders/quote", map[string]any{"amount_minor": reward}, http.StatusOK, &quoted); err != nil {
		return err
	}
	if err := errors.Join(agent.Same("fee", quoted.Quote.FeeMinor, fee), agent.Same("total", quoted.Quote.TotalMinor, total)); err != nil {
		return err
	}
	s.stepf("Ada asks for a quote: %s for Ben and a fee of %s make %s.", credits(reward), credits(fee), credits(total))

	var made orderAnswer
	offer := map[string]any{
		"operation_id": uuid.NewString(), "contractor_id": s.ben.ID, "amount_minor": reward, "confirmed_total_minor": total,
		"title": "A poem in French", "description": "Fourteen lines; keep the rhymes.",
		"deadline": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339),
	}
	if err := s.ada.Post(ctx, "/orders", offer, http.StatusCreated, &made); err != nil {
		return err
	}
	if err := s.changed(made.Order, "offered", 1); err != nil {
		return err
	}
	if err := balances(ctx, s.ada, grant, 0); err != nil {
		return err
	}
	s.stepf("Ada offers Ben the order; both sockets say order.changed, and no credit has moved yet.")
	for _, step := range orderSteps {
		if err := s.operate(ctx, made.Order.ID, step); err != nil {
			return err
		}
	}
	if err := s.checkAccounts(ctx, made.Order.ID); err != nil {
		return err
	}
	return s.rate(ctx, made.Order.ID)
}

// orderStep is one operation on the order and the wallets after it.
type orderStep struct {
	by                  func(*story) *agent.Agent
	name                string
	extra               map[string]any
	state               string
	version             int64
	available, reserved int64 // Ada's, afterwards
	contractor          int64 // Ben's available balance, afterwards
	text                string
}

var orderSteps = []orderStep{
	{ben, "accept", nil, "funded", 2, grant - total, total, grant, "Ben accepts; the full price is now reserved in Ada's wallet."},
	{ben, "start", nil, "in_progress", 3, grant - total, total, grant, "Ben starts."},
	{
		ben, "deliver", map[string]any{"result_text": "Quand la nuit…"}, "delivered", 4, grant - total, total, grant,
		"Ben delivers; he is not paid for that alone.",
	},
	{ada, "complete", nil, "closed", 5, grant - total, 0, grant + reward, "Ada accepts the work; Ben is paid out of the reserve."},
}

func ada(s *story) *agent.Agent { return s.ada }
func ben(s *story) *agent.Agent { return s.ben }

// operate runs one step twice, since a repeat must change nothing (§1.7).
func (s *story) operate(ctx context.Context, orderID string, a orderStep) error {
	body := map[string]any{"operation_id": uuid.NewString(), "expected_version": a.version - 1}
	maps.Copy(body, a.extra)
	path := "/orders/" + orderID + "/" + a.name
	var changed, again orderAnswer
	if err := a.by(s).Post(ctx, path, body, http.StatusOK, &changed); err != nil {
		return err
	}
	if err := s.changed(changed.Order, a.state, a.version); err != nil {
		return err
	}
	if err := a.by(s).Repeat(ctx, path, body, &again); err != nil {
		return err
	}
	if err := agent.Same("version after a repeat of "+a.name, again.Order.Version, a.version); err != nil {
		return err
	}
	if err := errors.Join(balances(ctx, s.ada, a.available, a.reserved), balances(ctx, s.ben, a.contractor, 0)); err != nil {
		return err
	}
	s.stepf("%s Ada: %s and %s reserved. Ben: %s.", a.text, credits(a.available), credits(a.reserved), credits(a.contractor))
	return nil
}

// changed compares an order with what was expected, and the events that both agents receive.
func (s *story) changed(got card, state string, version int64) error {
	if err := errors.Join(agent.Same("state", got.State, state), agent.Same("version", got.Version, version)); err != nil {
		return err
	}
	for _, who := range []*agent.Agent{s.ada, s.ben} {
		var event orderEvent
		if err := who.Events.Take("order.changed", &event); err != nil {
			return err
		}
		if err := agent.Same(who.Name+"'s event", event, orderEvent{got.ID, state, version}); err != nil {
			return err
		}
	}
	return nil
}
