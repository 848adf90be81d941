package messages

// The function stoa_send (migrate/functions/messages.sql) decides whether an envelope is stored. This file checks the input,
// calls it and translates its verdict.

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/eventid"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// The two verdicts of stoa_send that mean success. Every other verdict is a fault code.
const (
	accepted = "accepted"
	repeated = "repeated"
)

// blamed maps a refusal to the fields that it blames, with the reasons.
var blamed = map[fault.Code]map[string]string{
	fault.ContactNotAccepted:  {"recipient_id": "is not an accepted contact"},
	fault.IdempotencyConflict: {"client_message_id": "was sent before with another envelope"},
	fault.MessageExpired:      {"client_message_id": "was sent before, and that message has expired"},
	fault.KeyChanged: {
		"sender_public_key":    "is not your registered key, the encryption_public_key of your own record",
		"recipient_public_key": "is not the recipient's registered key, the encryption_public_key of its card",
	},
	fault.NonceReuse: {"nonce": "was used before"},
}

// answer is the row that stoa_send returns. If a fault refuses the envelope, the message's columns are null. Remaining and
// ResetAfter describe the limit; they are null if the envelope was not counted.
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
// envelope returns the stored record and does not count towards the limit. Faults in this order: the faults of SendInput.Check;
// idempotency_conflict or message_expired for a client_message_id that the caller used before; contact_not_accepted (also for
// oneself and for an unknown recipient), inactive_bot (the sender may not take on obligations), key_changed, nonce_reuse,
// rate_limited (60 new messages a minute).
func (a *API) SendMessage(ctx context.Context, in SendInput) (*SendResult, error) {
	v, e, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	// This is the busiest write: one function does it in one round trip. Its statements see commits made while it waited for the
	// contact's lock. It may run twice: the second run finds the message of the first.
	s, err := db.One[answer](ctx, a.DB.SQL, named("send"),
		v.BotID, uuid.Must(uuid.NewV7()), eventid.New(e.recipientID), e.recipientID, e.clientMessageID, e.nonce, e.ciphertext, Version,
		e.senderKey, e.recipientKey, Retention.Seconds(), limits.Messages.Name, limits.Messages.Quota(a.Quotas), limits.Messages.Span.Seconds())
	if err != nil {
		return nil, err
	}
	if err := a.noteLimit(ctx, s); err != nil {
		return nil, err
	}
	if s.Verdict != accepted && s.Verdict != repeated {
		return nil, a.refusal(ctx, v.BotID, e, fault.Code(s.Verdict))
	}
	stored := &Card{
		ID: s.ID.UUID, ContactID: s.ContactID.UUID, ClientMessageID: e.clientMessageID, SenderID: v.BotID,
		RecipientID: e.recipientID, Nonce: e.nonce, Ciphertext: e.ciphertext, EncryptionVersion: Version,
		SenderPublicKey: e.senderKey, RecipientPublicKey: e.recipientKey, SizeBytes: len(e.ciphertext),
		CreatedAt: s.CreatedAt.V, ExpiresAt: s.ExpiresAt.V,
	}
	if s.Verdict == accepted {
		a.Wake([]uuid.UUID{e.recipientID})
	}
	return &SendResult{Replay: wire.Replay{Repeat: wire.Repeat{Repeated: s.Verdict == repeated}}, Message: stored}, nil
}

// refusal returns the fault of a verdict. It blames each of the two keys that is not the registered one.
func (a *API) refusal(ctx context.Context, sender uuid.UUID, e envelope, code fault.Code) error {
	fields := blamed[code]
	if code == fault.KeyChanged {
		wrong, err := db.Column[string](ctx, a.DB.SQL, named("wrong_keys"), sender, e.senderKey, e.recipientID, e.recipientKey)
		if err != nil {
			return err
		}
		fields = maps.Clone(fields)
		maps.DeleteFunc(fields, func(name, _ string) bool { return !slices.Contains(wrong, name) })
	}
	return &fault.Error{Code: code, Fields: fields}
}

// noteLimit records the remaining quota of messages, and returns rate_limited if it is exceeded.
func (a *API) noteLimit(ctx context.Context, s *answer) error {
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

// Dialog lists the messages between the caller and a friend, newest first, 100 a page (§4.5). Only an agent may call it. Expired
// messages are not listed. Faults: invalid_id, not_found (peer is not an accepted contact, or before is not a message that this
// dialog still shows).
func (a *API) Dialog(ctx context.Context, in DialogInput) (*DialogPage, error) {
	v, of, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	found, err := db.All[Card](ctx, a.DB.SQL, named("list_dialog"), v.BotID, of.Of, of.Before, page.CursorSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		exists, err := db.Value[bool](ctx, a.DB.SQL, named("dialog_exists"), v.BotID, of.Of, of.Before)
		if err != nil {
			return nil, err
		}
		if !exists {
			return nil, fault.New(fault.NotFound)
		}
	}
	shown, next := page.Older(found, page.CursorSize, func(c *Card) uuid.UUID { return c.ID })
	return &DialogPage{Messages: append([]*Card{}, shown...), NextBefore: next}, nil
}
