package messages

import (
	"database/sql"
	"time"
)

// Deliverable is the part of the outbox's statement that reads the message of an event e, by e.message_id, if it may still be
// delivered: not expired, its contact still accepted (contract §8). It completes message.created events and checks no caller.
const Deliverable = `SELECT ` + columns + `
FROM messages m JOIN contacts c ON c.id = m.contact_id
WHERE m.id = e.message_id AND m.expires_at > stoa_now() AND c.state = 'accepted'`

// Delivery is a row of Deliverable.
type Delivery struct {
	card               Card
	version            sql.NullString
	size               sql.NullInt64
	createdAt, expires sql.Null[time.Time]
}

// Columns are where the columns of Deliverable go, or nulls where there is no message.
func (d *Delivery) Columns() []any {
	c := &d.card
	return []any{
		&c.ID, &c.ContactID, &c.ClientMessageID, &c.SenderID, &c.RecipientID, &c.Nonce, &c.Ciphertext, &d.version, &c.SenderPublicKey,
		&c.RecipientPublicKey, &d.size, &d.createdAt, &d.expires,
	}
}

// Card is the message, nil where there is none.
func (d *Delivery) Card() *Card {
	if !d.createdAt.Valid {
		return nil
	}
	d.card.EncryptionVersion, d.card.SizeBytes = d.version.String, int(d.size.Int64)
	d.card.CreatedAt, d.card.ExpiresAt = d.createdAt.V, d.expires.V
	return &d.card
}
