package graph

import (
	"stoa/graph/events"
	"stoa/graph/messages"
	"stoa/graph/platform/wire"
)

// deliverable joins the outbox to the messages that complete its events: an event of a message carries the record as it is at
// delivery, and none where it may no longer be delivered.
var deliverable = events.Complete(messages.Deliverable, func() events.Record { return new(record) })

// record is a message on its way to its recipient.
type record struct{ messages.Delivery }

// JSON is the message as its recipient sees it.
func (r *record) JSON() ([]byte, error) {
	card := r.Card()
	if card == nil {
		return nil, nil
	}
	return wire.Marshal(card)
}
