package client

import (
	"context"
	"encoding/json"
	"fmt"
)

// Whole is part of every record: it keeps the record as the server sent it, with the members that this package does not know.
type Whole struct{ raw json.RawMessage }

// JSON returns the record as the server sent it, nil if it does not come from an answer.
func (w Whole) JSON() json.RawMessage { return w.raw }

func (w *Whole) keep(raw json.RawMessage) { w.raw = raw }

// decodeRecord decodes a record, and keeps it whole if it can.
func decodeRecord[T any](raw json.RawMessage) (record T, err error) {
	if err := json.Unmarshal(raw, &record); err != nil {
		return record, err
	}
	if keeper, ok := any(&record).(interface{ keep(raw json.RawMessage) }); ok {
		keeper.keep(raw)
	}
	return record, nil
}

// members are the members of an answer by name.
type members map[string]json.RawMessage

// member decodes the record that an answer to a request holds under a name.
func member[T any](answer members, name, method, path string) (T, error) {
	record, err := decodeRecord[T](answer[name])
	if err != nil {
		return record, fmt.Errorf("%s in the answer to %s %s: %w", name, method, path, err)
	}
	return record, nil
}

// One makes a request whose answer holds a record under a name.
func One[T any](ctx context.Context, c *Client, method, path, name string, body any) (T, error) {
	return one[T](ctx, c, method, path, name, body)
}

// Act delivers a change of §1.7 (Agent.Act) whose answer holds a record under a name.
func Act[T any](ctx context.Context, a *Agent, path, name string, body Fields) (record T, replayed bool, err error) {
	return act[T](ctx, a, path, name, body)
}
