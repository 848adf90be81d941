package messages

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// The verdicts of stoa_send that are no fault's code.
const (
	accepted = "accepted"
	repeated = "repeated"
)

// answer is that of stoa_send. All but the verdict is null if a fault refuses the envelope; Remaining and ResetAfter describe the
// limit and are null if the envelope was not counted.
type answer struct {
	Verdict    string              `db:"verdict"`
	ID         uuid.NullUUID       `db:"id"`
	ContactID  uuid.NullUUID       `db:"contact_id"`
	CreatedAt  sql.Null[time.Time] `db:"created_at"`
	ExpiresAt  sql.Null[time.Time] `db:"expires_at"`
	Remaining  sql.Null[int]       `db:"remaining"`
	ResetAfter sql.Null[float64]   `db:"reset_after"`
	// Sequence is that of the event; null if nothing was stored.
	Sequence sql.Null[int64] `db:"sequence"`
	Before   pq.Int64Array   `db:"before"`
}

// MaxBefore bounds the events that are listed in Announced.
const MaxBefore = 16

// Announced is a message that has just been stored, with its event.
type Announced struct {
	EventID  uuid.UUID
	Sequence int64
	// Before are the sequences of the recipient's oldest unacknowledged events when the message was stored, MaxBefore at most: all that
	// was answered before is among them. They have to be sent before it.
	Before  []int64
	Message *Card
}

// SendMessage stores an envelope for a friend and announces it (§4.5). Only an agent may call it. Repeating the identical
// envelope returns the stored record and does not count towards the limit. Faults in this order: those of SendInput.Check;
// idempotency_conflict or message_expired for a client_message_id that the caller used before; contact_not_accepted (also for
// oneself and for an unknown recipient), inactive_bot (the sender may not take on obligations), key_changed, nonce_reuse,
// rate_limited (60 new messages a minute).
func (a *API) SendMessage(ctx context.Context, in SendInput) (*SendResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	e, err := in.Check()
	if err != nil {
		return nil, err
	}
	eventID := eventid.New(e.recipientID)
	sent, err := a.send(ctx, v.BotID, eventID, e)
	if err != nil {
		return nil, err
	}
	if sent.Verdict != accepted && sent.Verdict != repeated {
		return nil, fault.New(fault.Code(sent.Verdict))
	}
	stored := &Card{
		ID: sent.ID.UUID, ContactID: sent.ContactID.UUID, ClientMessageID: e.clientMessageID, SenderID: v.BotID,
		RecipientID: e.recipientID, Nonce: e.nonce, Ciphertext: e.ciphertext, EncryptionVersion: Version,
		SenderPublicKey: e.senderKey, RecipientPublicKey: e.recipientKey, SizeBytes: len(e.ciphertext),
		CreatedAt: sent.CreatedAt.V, ExpiresAt: sent.ExpiresAt.V,
	}
	if sent.Verdict == accepted {
		a.Announce(&Announced{EventID: eventID, Sequence: sent.Sequence.V, Before: sent.Before, Message: stored})
	}
	return &SendResult{Replay: wire.Replay{Repeat: wire.Repeat{Repeated: sent.Verdict == repeated}}, Message: stored}, nil
}

// send calls stoa_send and notes what is left of the limit; it returns rate_limited over it. This is the busiest write: as one
// function every rule and write is one round trip under the contact's lock, and its statements see what others commit while it
// waits for that lock. It may run twice: the second time finds the message of the first.
func (a *API) send(ctx context.Context, senderID, eventID uuid.UUID, e envelope) (*answer, error) {
	quota := limits.Messages.Quota(a.Quotas)
	var answers []*answer
	err := a.DB.QueryUncancelled(ctx, db.Into(&answers), send.Text,
		uuid.Must(uuid.NewV7()), eventID, senderID, e.recipientID, e.clientMessageID, e.nonce, e.ciphertext, Version,
		e.senderKey, e.recipientKey, Retention.Seconds(), limits.Messages.Name, quota, limits.Messages.Span.Seconds(), MaxBefore)
	if err != nil {
		return nil, err
	}
	sent := answers[0]
	if !sent.Remaining.Valid || quota == 0 {
		return sent, nil
	}
	taken := limits.Taken{
		Limit: limits.Messages, Quota: quota, Allowed: sent.Verdict == accepted, Remaining: sent.Remaining.V,
		Reset: limits.Seconds(sent.ResetAfter.V),
	}
	limits.Note(ctx, taken)
	return sent, taken.Fault()
}
