package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/messages"
	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// Cursor selects the unacknowledged events of one recipient that a connection reads next.
type Cursor struct {
	Recipient uuid.UUID
	// Version of the channel; kinds of later versions are left out.
	Version int
	// After is the sequence after which the batch begins; 0 begins at the oldest event.
	After int64
	// Known is the sequence up to which the connection has already read. Events up to it are returned without frames, and their
	// messages are not read.
	Known int64
	// Size is how many events the batch holds at most.
	Size int
	// SkipOwn acknowledges the recipient's own acts instead of reading them.
	SkipOwn bool
}

// Queued is one unacknowledged event. Up to the cursor's Known it has an ID and a Sequence only.
type Queued struct {
	ID        uuid.UUID
	Sequence  int64
	Kind      Kind
	CreatedAt time.Time
	// payload is the stored payload. message is the record of its message; nil if it has none.
	payload, message []byte
}

// AppendPayload appends the payload as clients see it, a JSON object on one line.
func (q *Queued) AppendPayload(b []byte) []byte {
	if q.message == nil {
		return append(b, q.payload...)
	}
	b = append(b, q.payload[:len(q.payload)-1]...)
	b = append(b, `,"message":`...)
	return append(append(b, q.message...), '}')
}

// Size returns about the number of bytes of the event on the wire, and never less than its payload.
func (q *Queued) Size() int { return len(q.payload) + len(q.message) + 128 }

// Frame returns the event as it is sent on a socket (§6).
func (q *Queued) Frame() []byte {
	b := make([]byte, 0, q.Size())
	b = append(b, `{"type":"event","event_id":"`...)
	b = append(b, q.ID.String()...)
	b = append(b, `","kind":"`...)
	b = append(b, q.Kind...)
	b = append(b, `","payload":`...)
	return append(q.AppendPayload(b), '}')
}

// Batch holds the events that a cursor found.
type Batch struct {
	// Events in the order of delivery.
	Events []Queued
	// More reports that there may be events after the batch.
	More bool
	// Last is the largest sequence that was read; 0 if nothing was found.
	Last int64
}

// row is a row of fetch_events.
type row struct {
	ID       uuid.UUID `db:"id"`
	Sequence int64     `db:"sequence"`
	// Kind is nil for an event that the connection knows.
	Kind    *string `db:"kind"`
	Payload []byte  `db:"payload"`
	// CreatedAt is when the event was caused.
	CreatedAt  time.Time `db:"created_at"`
	HasMessage bool      `db:"has_message"`
	// Own reports that the recipient caused the event itself and that the cursor skips own acts.
	Own bool `db:"own"`
	// Message has no id if the event has no message, or its message may no longer be delivered.
	Message messages.Card `db:"message"`
}

// Fetch reads the batch of a cursor. An event whose message has expired or whose contact is no longer accepted is deleted instead
// of being returned, because neither can be undone. An own act that the cursor skips is acknowledged instead, for all connections
// of the agent.
func (a *API) Fetch(ctx context.Context, c Cursor) (batch Batch, err error) {
	rows, err := db.All[row](ctx, a.DB.SQL, named("fetch_events"), c.Recipient, c.Version == FirstVersion, c.After, c.Known, c.Size,
		c.SkipOwn, string(ownKind))
	if err != nil {
		return Batch{}, err
	}
	batch.More = len(rows) == c.Size
	var gone, own []uuid.UUID
	for _, r := range rows {
		batch.Last = r.Sequence
		switch {
		case r.Own:
			own = append(own, r.ID)
		case r.Kind == nil:
			batch.Events = append(batch.Events, Queued{ID: r.ID, Sequence: r.Sequence})
		case r.HasMessage && r.Message.ID == uuid.Nil:
			gone = append(gone, r.ID)
		default:
			e := Queued{ID: r.ID, Sequence: r.Sequence, Kind: Kind(*r.Kind), CreatedAt: r.CreatedAt}
			if e.payload, err = payloadFor(c.Version, e.Kind, r.Payload); err != nil {
				return Batch{}, err
			}
			if r.HasMessage {
				if e.message, err = wire.Marshal(&r.Message); err != nil {
					return Batch{}, err
				}
			}
			batch.Events = append(batch.Events, e)
		}
	}
	if len(gone) > 0 {
		if err = db.Exec(ctx, a.DB.SQL, named("delete_events"), db.IDs(gone)); err != nil {
			return Batch{}, err
		}
	}
	if len(own) > 0 {
		if _, err = a.Acknowledge(ctx, c.Recipient, own); err != nil {
			return Batch{}, err
		}
	}
	return batch, nil
}

// AcknowledgeInput names the events that its sender has stored durably: 1 to WindowSize.
type AcknowledgeInput struct {
	EventIDs []string `json:"event_ids"`
}

// Acknowledgement holds the result for each id once, in the order of the request.
type Acknowledgement struct {
	// Acked holds the ids that are acknowledged, now or before.
	Acked []uuid.UUID `json:"acked"`
	// Unknown holds the ids that belong to no event of the caller.
	Unknown []uuid.UUID `json:"unknown"`
}

// check returns the ids, each once.
func (in AcknowledgeInput) check() ([]uuid.UUID, error) {
	if len(in.EventIDs) == 0 || len(in.EventIDs) > WindowSize {
		return nil, fault.Field(fault.InvalidInput, "event_ids", fmt.Sprintf("must hold 1 to %d ids", WindowSize))
	}
	ids := make([]uuid.UUID, 0, len(in.EventIDs))
	for _, sent := range in.EventIDs {
		id, err := text.UUID(sent)
		if err != nil {
			return nil, fault.Field(fault.InvalidInput, "event_ids", err.Error())
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// AcknowledgeEvents acknowledges events of the caller (§4.10). An acknowledgement holds for all connections of the agent. Only an
// agent may call it; it may be repeated. Fault: invalid_input.
func (a *API) AcknowledgeEvents(ctx context.Context, in AcknowledgeInput) (*Acknowledgement, error) {
	v, ids, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	deleted, err := a.Acknowledge(ctx, v.BotID, ids)
	if err != nil {
		return nil, err
	}
	result := &Acknowledgement{Acked: []uuid.UUID{}, Unknown: []uuid.UUID{}}
	for _, id := range ids {
		if eventid.IsOf(v.BotID, id) || slices.Contains(deleted, id) {
			result.Acked = append(result.Acked, id)
		} else {
			result.Unknown = append(result.Unknown, id)
		}
	}
	return result, nil
}

// Acknowledge deletes events that their recipient has stored durably, and notifies the recipient's connections. After it has
// returned, no new connection receives them again. It ignores events that are already deleted or belong to another recipient, and
// returns the events that it deleted.
func (a *API) Acknowledge(ctx context.Context, recipient uuid.UUID, ids []uuid.UUID) (deleted []uuid.UUID, err error) {
	deleted, err = db.Column[uuid.UUID](ctx, a.DB.SQL, named("acknowledge_events"), recipient, db.IDs(ids))
	if err == nil && len(deleted) > 0 {
		a.Acknowledged(recipient, deleted)
	}
	return deleted, err
}

// AcknowledgeDelivered acknowledges an event that was delivered by other means than a connection, in the transaction that stores
// the delivery. It notifies the recipient's connections after the commit, and ignores an event that is already deleted.
func (a *API) AcknowledgeDelivered(ctx context.Context, tx *db.Tx, recipient, id uuid.UUID) error {
	deleted, err := db.Column[uuid.UUID](ctx, tx.SQL, named("acknowledge_events"), recipient, db.IDs([]uuid.UUID{id}))
	if err == nil && len(deleted) > 0 {
		tx.AfterCommit(func() { a.Acknowledged(recipient, deleted) })
	}
	return err
}
