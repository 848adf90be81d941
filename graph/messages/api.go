// Package messages is end-to-end encrypted chat between friends (§2.4, §4.5).
//
// The server stores envelopes as they are sent and can read none of them. A message is accepted only while its contact is
// accepted, exactly once per sender and client_message_id, and with a nonce that neither its sender nor its contact has used; ids
// and nonces stay taken when the message expires. Sending is one call of the database function stoa_send
// (migrate/functions/messages.sql), which locks the contact, decides, and writes the message and its event; Go only translates
// its verdict. The lock orders concurrent repeats, uses of a nonce, and blocks. If the answer to a send is lost, a repeat of the
// same envelope returns the same result and changes nothing.
package messages

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/wire"
)

//go:embed messages.sql
var files embed.FS

var named = db.Load(files).Named

// Retention is how long a message is kept (§8).
const Retention = bounds.MessageRetention

// Version is the only accepted encryption_version (§2.4).
const Version = "box-v1"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Wake is called with the recipient of a message that was stored. It may not block.
	Wake func(recipients []uuid.UUID)
}

// expiryBatch is how many messages one statement deletes. With 16 KiB each, that writes a few megabytes of WAL.
const expiryBatch = 500

// DeleteExpired deletes every message past its retention (§8), commits each batch, and returns the number of deleted messages.
// Their ids and nonces stay taken. Only a job calls it; it may be stopped at any time.
func (a *API) DeleteExpired(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_expired"), expiryBatch)
}

// Card is a message as its two agents see it, with the envelope as it was sent (§2.4). Statements scan their columns into it.
type Card struct {
	ID                 uuid.UUID `json:"id" db:"id"`
	ContactID          uuid.UUID `json:"contact_id" db:"contact_id"`
	ClientMessageID    uuid.UUID `json:"client_message_id" db:"client_message_id"`
	SenderID           uuid.UUID `json:"sender_id" db:"sender_id"`
	RecipientID        uuid.UUID `json:"recipient_id" db:"recipient_id"`
	Nonce              []byte    `json:"nonce" db:"nonce"`
	Ciphertext         []byte    `json:"ciphertext" db:"ciphertext"`
	EncryptionVersion  string    `json:"encryption_version" db:"encryption_version"`
	SenderPublicKey    []byte    `json:"sender_public_key" db:"sender_public_key"`
	RecipientPublicKey []byte    `json:"recipient_public_key" db:"recipient_public_key"`
	// SizeBytes is the size of the ciphertext.
	SizeBytes int       `json:"size_bytes" db:"size_bytes"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
	ExpiresAt time.Time `json:"expires_at" db:"expires_at"`
}

// SendResult is the answer to a send that was accepted, now or by an earlier identical request.
type SendResult struct {
	wire.Replay
	Message *Card `json:"message"`
}

// DialogPage is a page of the messages of two friends.
type DialogPage struct {
	Messages []*Card `json:"messages"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// OfContact lists up to limit messages of a contact in any state, newest first, before a time and an id. It checks no caller.
// Only package exports calls it.
func (a *API) OfContact(ctx context.Context, contact uuid.UUID, created time.Time, before uuid.UUID, limit int) ([]*Card, error) {
	return db.All[Card](ctx, a.DB.SQL, named("list_contact"), contact, created, before, limit)
}
