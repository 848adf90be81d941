package messages

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/wire"
)

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
