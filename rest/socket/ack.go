package socket

import (
	"github.com/google/uuid"

	"stoa/graph/wire"
)

// ack is the one thing a client says (§6).
type ack struct {
	Type    *string    `json:"type"`
	EventID *uuid.UUID `json:"event_id"`
}

// readAck reads an ack frame and returns its event. Anything else is errProtocol.
func readAck(frame []byte) (uuid.UUID, error) {
	var sent ack
	if err := wire.Unmarshal(frame, &sent); err != nil {
		return uuid.Nil, errProtocol
	}
	if sent.Type == nil || *sent.Type != "ack" || sent.EventID == nil {
		return uuid.Nil, errProtocol
	}
	return *sent.EventID, nil
}

// acked is the frame that answers an ack.
func acked(event uuid.UUID) []byte {
	return []byte(`{"type":"acked","event_id":"` + event.String() + `"}`)
}
