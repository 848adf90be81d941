package baseline

import (
	"context"
	"database/sql"
	"encoding/base64"
	"time"

	"github.com/google/uuid"
)

// Envelope is a message as its sender made it.
type Envelope struct {
	To, ClientID                   uuid.UUID
	Nonce, Box, FromKey, TargetKey []byte
}

// Sent is a message that was stored.
type Sent struct {
	ID, Contact, From string
	Created, Expires  time.Time
}

const encryption = "box-v1"

const sendText = `SELECT * FROM bench.send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0)`

// Send stores a message and announces it.
func (d *DB) Send(ctx context.Context, tokenHash []byte, e *Envelope) (*Sent, error) {
	var (
		verdict           sql.NullString
		id, contact, from sql.NullString
		created, expires  sql.NullTime
	)
	err := d.statements[sendText].QueryRowContext(ctx, tokenHash, newID(), newID(), e.To, e.ClientID, e.Nonce, e.Box, encryption, e.FromKey, e.TargetKey).
		Scan(&verdict, &id, &contact, &from, &created, &expires)
	if err != nil {
		return nil, err
	}
	return &Sent{id.String, contact.String, from.String, created.Time, expires.Time}, refused(verdict)
}

func appendSent(b []byte, s *Sent, e *Envelope) []byte {
	b = field(append(b, `{"message":{`...), "id", s.ID)
	b = field(append(b, ','), "contact_id", s.Contact)
	b = field(append(b, ','), "client_message_id", e.ClientID.String())
	b = field(append(b, ','), "sender_id", s.From)
	b = field(append(b, ','), "recipient_id", e.To.String())
	for _, bytes := range []struct {
		name  string
		value []byte
	}{{"nonce", e.Nonce}, {"ciphertext", e.Box}} {
		b = append(append(append(b, `,"`...), bytes.name...), `":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, bytes.value), '"')
	}
	b = base64.StdEncoding.AppendEncode(append(b, `,"encryption_version":"`+encryption+`","sender_public_key":"`...), e.FromKey)
	b = base64.StdEncoding.AppendEncode(append(b, `","recipient_public_key":"`...), e.TargetKey)
	b = number(append(b, `","size_bytes":`...), int64(len(e.Box)))
	b = stamp(append(b, `,"created_at":`...), s.Created)
	b = stamp(append(b, `,"expires_at":`...), s.Expires)
	return append(b, "}}"...)
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
