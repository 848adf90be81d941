package messages

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/viewer"
	"stoa/graph/wire"
)

// SendResult is a message that was accepted, now or by an earlier identical request, as REST wraps it.
type SendResult struct {
	wire.Repeat
	Message *Card `json:"message"`
}

// The verdicts of stoa_send that are no fault's code.
const (
	accepted = "accepted"
	repeated = "repeated"
)

// send is the whole of a send behind the form of its envelope: it locks the contact, applies the rules, and writes message,
// guard and announcement. It is one function in the database (migrate/sql/0003_messages.sql), because this is the busiest
// write there is and every further round trip would hold the contact's lock for its length; and a function rather than one
// query, because its statements see what others commit while it waits for them, so that races need no second call.
const send = `
SELECT verdict, id, contact_id, created_at, expires_at, remaining, reset_after
FROM stoa_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, make_interval(secs => $11), $12, $13, make_interval(secs => $14))`

// SendMessage stores an envelope for a friend and announces it (§4.5). Only an agent may call it. Repeating the identical
// envelope returns the stored record and does not count towards the limit. Faults in this order: those of SendInput.Check;
// idempotency_conflict or message_expired for a client_message_id that the caller used before; contact_not_accepted (also for
// oneself and for an unknown recipient), inactive_bot (the sender may not take on new obligations), key_changed, nonce_reuse,
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
	var (
		verdict             string
		id, contactID       uuid.NullUUID
		createdAt, expireAt sql.Null[time.Time]
		remaining           sql.Null[int]
		resetAfter          sql.Null[float64]
		limit, quota        = limits.Messages, limits.Messages.Quota(a.Quotas)
	)
	err = a.DB.SQL.QueryRowContext(ctx, send, uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), v.BotID, e.recipientID, e.clientMessageID,
		e.nonce, e.ciphertext, Version, e.senderKey, e.recipientKey, Retention.Seconds(), limit.Name, quota, limit.Span.Seconds()).
		Scan(&verdict, &id, &contactID, &createdAt, &expireAt, &remaining, &resetAfter)
	if err != nil {
		return nil, err
	}
	if remaining.Valid && quota > 0 {
		taken := limits.Taken{
			Limit: limit, Quota: quota, Allowed: verdict == accepted, Remaining: remaining.V, Reset: limits.Seconds(resetAfter.V),
		}
		limits.Note(ctx, taken)
		if err := taken.Fault(); err != nil {
			return nil, err
		}
	}
	if verdict != accepted && verdict != repeated {
		return nil, fault.New(fault.Code(verdict))
	}
	if verdict == accepted {
		a.Events.Wake([]uuid.UUID{e.recipientID})
	}
	return &SendResult{Repeat: wire.Repeat{Repeated: verdict == repeated}, Message: &Card{
		ID: id.UUID, ContactID: contactID.UUID, ClientMessageID: e.clientMessageID, SenderID: v.BotID, RecipientID: e.recipientID,
		Nonce: e.nonce, Ciphertext: e.ciphertext, EncryptionVersion: Version, SenderPublicKey: e.senderKey,
		RecipientPublicKey: e.recipientKey, SizeBytes: len(e.ciphertext), CreatedAt: createdAt.V, ExpiresAt: expireAt.V,
	}}, nil
}
