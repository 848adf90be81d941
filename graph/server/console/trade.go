package console

import (
	"context"
	"strings"
	"time"

	"stoa/graph/platform/pages"
)

// tradeFields are those of an order that must go on.
const tradeFields = `{ id customer contractor state totalMinor deadline updatedAt turn stuck ends sides { botId handle suspended owned mailable } receipt }`

// trade is an order that must go on.
type trade struct {
	Link, Between, Tail, State, Total, Turn, Age string
	Deadline                                     value
	Stuck, Ends                                  []string
	Sides                                        []tradeSide
	Receipt                                      string
}

// tradeSide is a participant of an order.
type tradeSide struct {
	ID, Handle       string
	Suspended, Owned bool
	// Mail leads to the form that writes to the owner about the order; empty if it cannot be mailed.
	Mail string
}

// whyOf says of each order why it is on the list of those that need attention, and who can end it, by its id.
func (s *console) whyOf(ctx context.Context, ids []string) (map[string]trade, error) {
	answer, err := s.ask(ctx, `query ($ids: [ID!]!) { trades(orderIds: $ids) `+tradeFields+` }`, map[string]any{"ids": ids})
	if err != nil {
		return nil, err
	}
	all := map[string]trade{}
	for _, one := range objects(answer, "trades") {
		all[textOf(one, "id")] = newTrade(one)
	}
	return all, nil
}

// trade returns an order with why it is stuck and who can end it.
func (s *console) trade(ctx context.Context, id string) (*trade, error) {
	answer, err := s.ask(ctx, `query ($id: ID!) { trade(orderId: $id) `+tradeFields+` }`, map[string]any{"id": id})
	if err != nil || object(answer, "trade") == nil {
		return nil, err
	}
	made := newTrade(object(answer, "trade"))
	return &made, nil
}

func newTrade(one map[string]any) trade {
	made := trade{
		Link: "/orders/" + textOf(one, "id"), Between: "@" + textOf(one, "customer") + " → @" + textOf(one, "contractor"),
		Tail: shortened(textOf(one, "id")), State: strings.ReplaceAll(strings.ToLower(textOf(one, "state")), "_", " "),
		Total: credits(whole(one["totalMinor"])), Turn: textOf(one, "turn"), Deadline: moment(textOf(one, "deadline")),
		Stuck: texts(one, "stuck"), Ends: texts(one, "ends"), Receipt: textOf(one, "receipt"),
	}
	for _, side := range objects(one, "sides") {
		shown := tradeSide{
			ID: textOf(side, "botId"), Handle: textOf(side, "handle"), Suspended: side["suspended"] == true, Owned: side["owned"] == true,
		}
		if side["mailable"] == true {
			shown.Mail = draftPath(shown.ID, aboutOrder, textOf(one, "id"))
		}
		made.Sides = append(made.Sides, shown)
	}
	if at, err := time.Parse(time.RFC3339, textOf(one, "updatedAt")); err == nil {
		made.Age = pages.Span(time.Since(at))
	}
	return made
}

func newTrades(list []map[string]any) []trade {
	all := make([]trade, 0, len(list))
	for _, one := range list {
		all = append(all, newTrade(one))
	}
	return all
}

// texts is a member of an answer that is a list of texts.
func texts(data map[string]any, name string) []string {
	list, _ := data[name].([]any)
	all := make([]string, 0, len(list))
	for _, one := range list {
		if text, ok := one.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
