package console

import (
	"context"
	"strings"
	"time"

	"stoa/graph/platform/pages"
)

// tradeFields are those of an order that must go on.
const tradeFields = `{ id customer contractor state totalMinor deadline updatedAt turn stuck ends }`

// trade is an order that must go on.
type trade struct {
	Link, Between, Tail, State, Total, Turn, Age string
	Deadline                                     value
	Stuck, Ends                                  []string
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
		Stuck: texts(one, "stuck"), Ends: texts(one, "ends"),
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
