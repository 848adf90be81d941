package messages

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/limits"
)

// The verdicts of stoa_send that are no fault's code.
const (
	accepted = "accepted"
	repeated = "repeated"
)

// send is the whole of a send behind the form of its envelope: it locks the contact, applies the rules, and writes message,
// guard and announcement. It is one function in the database (migrate/sql/0003_messages.sql), because this is the busiest
// write there is and every further round trip would hold the contact's lock for its length; and a function rather than one
// query, because its statements see what others commit while it waits for them, so that races need no second call. It may run twice:
// the second time finds the message that the first one wrote.
const send = `
SELECT verdict, id, contact_id, created_at, expires_at, remaining, reset_after
FROM stoa_send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, make_interval(secs => $11), $12, $13, make_interval(secs => $14))`

// sending is one send: the envelope, and what the database says of it.
type sending struct {
	envelope

	quota int

	verdict              string
	id, contactID        uuid.NullUUID
	createdAt, expiresAt sql.Null[time.Time]
	remaining            sql.Null[int]
	resetAfter           sql.Null[float64]
}

// arguments of send, in their order.
func (s *sending) arguments(senderID uuid.UUID) []any {
	return []any{
		uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), senderID, s.recipientID, s.clientMessageID, s.nonce, s.ciphertext, Version, s.senderKey,
		s.recipientKey, Retention.Seconds(), limits.Messages.Name, s.quota, limits.Messages.Span.Seconds(),
	}
}

// scan reads the row of send.
func (s *sending) scan(row *sql.Rows) error {
	return row.Scan(&s.verdict, &s.id, &s.contactID, &s.createdAt, &s.expiresAt, &s.remaining, &s.resetAfter)
}

// noteLimit tells the request what is left of the limit, where the message was counted; rate_limited over it.
func (s *sending) noteLimit(ctx context.Context) error {
	if !s.remaining.Valid || s.quota == 0 {
		return nil
	}
	taken := limits.Taken{
		Limit: limits.Messages, Quota: s.quota, Allowed: s.verdict == accepted, Remaining: s.remaining.V,
		Reset: limits.Seconds(s.resetAfter.V),
	}
	limits.Note(ctx, taken)
	return taken.Fault()
}

// card is the message that was accepted.
func (s *sending) card(senderID uuid.UUID) *Card {
	return &Card{
		ID: s.id.UUID, ContactID: s.contactID.UUID, ClientMessageID: s.clientMessageID, SenderID: senderID, RecipientID: s.recipientID,
		Nonce: s.nonce, Ciphertext: s.ciphertext, EncryptionVersion: Version, SenderPublicKey: s.senderKey,
		RecipientPublicKey: s.recipientKey, SizeBytes: len(s.ciphertext), CreatedAt: s.createdAt.V, ExpiresAt: s.expiresAt.V,
	}
}
