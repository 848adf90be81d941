package socket

import (
	"github.com/google/uuid"

	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// ack is the one thing a client says (§6).
type ack struct {
	Type    *string `json:"type"`
	EventID *string `json:"event_id"`
}

// readAck reads an ack frame and returns its event, or no event for an id that is none of ours: to a client ids are just strings.
// Anything else is errProtocol.
func readAck(frame []byte) (uuid.UUID, error) {
	var sent ack
	if err := wire.Unmarshal(frame, &sent); err != nil {
		return uuid.Nil, errProtocol
	}
	if sent.Type == nil || *sent.Type != "ack" || sent.EventID == nil || *sent.EventID == "" {
		return uuid.Nil, errProtocol
	}
	event, err := text.UUID(*sent.EventID)
	if err != nil {
		return uuid.Nil, nil //nolint:nilerr // it cannot be an event that any connection has received
	}
	return event, nil
}

// acked is the frame that answers an ack.
func acked(event uuid.UUID) []byte {
	return []byte(`{"type":"acked","event_id":"` + event.String() + `"}`)
}
