package events

import (
	"stoa/graph/messages"
	"stoa/graph/platform/wire"
)

// OfMessage returns the event of a message that was stored just now, as Fetch reads it.
func OfMessage(stored *messages.Announced) (Queued, error) {
	m := stored.Message
	payload, err := wire.Marshal(MessagePayload{
		MessageID: m.ID, ContactID: m.ContactID, SenderID: m.SenderID, ClientMessageID: m.ClientMessageID, CreatedAt: m.CreatedAt,
	})
	if err != nil {
		return Queued{}, err
	}
	record, err := wire.Marshal(m)
	return Queued{
		ID: stored.EventID, Sequence: stored.Sequence, Kind: MessageCreated, CreatedAt: m.CreatedAt, payload: payload, message: record,
	}, err
}
