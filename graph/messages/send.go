package messages

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

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
	s := &sending{envelope: e, messageID: uuid.Must(uuid.NewV7()), eventID: eventid.New(e.recipientID)}
	if err := a.store(ctx, v.BotID, s); err != nil {
		return nil, err
	}
	if err := a.noteLimit(ctx, s); err != nil {
		return nil, err
	}
	if s.Verdict != accepted && s.Verdict != repeated {
		return nil, fault.New(fault.Code(s.Verdict))
	}
	stored := &Card{
		ID: s.ID.UUID, ContactID: s.ContactID.UUID, ClientMessageID: s.clientMessageID, SenderID: v.BotID,
		RecipientID: s.recipientID, Nonce: s.nonce, Ciphertext: s.ciphertext, EncryptionVersion: Version,
		SenderPublicKey: s.senderKey, RecipientPublicKey: s.recipientKey, SizeBytes: len(s.ciphertext),
		CreatedAt: s.CreatedAt.V, ExpiresAt: s.ExpiresAt.V,
	}
	if s.Verdict == accepted {
		a.Wake([]uuid.UUID{s.recipientID})
	}
	return &SendResult{Replay: wire.Replay{Repeat: wire.Repeat{Repeated: s.Verdict == repeated}}, Message: stored}, nil
}

// sending is one call of stoa_send: its envelope, the ids that the message and its event get, and the answer. This is the busiest
// write: as one function every rule and write is one round trip under the contact's lock, and its statements see what others commit
// while it waits for that lock. It may run twice: the second time finds the message of the first.
type sending struct {
	envelope
	answer

	messageID, eventID uuid.UUID
}

// store calls stoa_send and reads its answer.
func (a *API) store(ctx context.Context, sender uuid.UUID, s *sending) error {
	return a.DB.QueryUncancelled(ctx, func(rows *sql.Rows) error { return rows.Scan(db.Targets(&s.answer)...) }, send.Text,
		sender, s.messageID, s.eventID, s.recipientID, s.clientMessageID, s.nonce, s.ciphertext, Version, s.senderKey, s.recipientKey,
		Retention.Seconds(), limits.Messages.Name, limits.Messages.Quota(a.Quotas), limits.Messages.Span.Seconds())
}

// noteLimit notes what is left of the limit of messages, and returns rate_limited over it.
func (a *API) noteLimit(ctx context.Context, s *sending) error {
	quota := limits.Messages.Quota(a.Quotas)
	if !s.Remaining.Valid || quota == 0 {
		return nil
	}
	taken := limits.Taken{
		Limit: limits.Messages, Quota: quota, Allowed: s.Verdict == accepted, Remaining: s.Remaining.V,
		Reset: limits.Seconds(s.ResetAfter.V),
	}
	limits.Note(ctx, taken)
	return taken.Fault()
}
