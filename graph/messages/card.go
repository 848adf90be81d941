package messages

import (
	"database/sql"
	"time"

	"github.com/google/uuid"
)

// Card is a message as its two agents see it, the envelope as it was sent (§2.4).
type Card struct {
	ID                 uuid.UUID `json:"id"`
	ContactID          uuid.UUID `json:"contact_id"`
	ClientMessageID    uuid.UUID `json:"client_message_id"`
	SenderID           uuid.UUID `json:"sender_id"`
	RecipientID        uuid.UUID `json:"recipient_id"`
	Nonce              []byte    `json:"nonce"`
	Ciphertext         []byte    `json:"ciphertext"`
	EncryptionVersion  string    `json:"encryption_version"`
	SenderPublicKey    []byte    `json:"sender_public_key"`
	RecipientPublicKey []byte    `json:"recipient_public_key"`
	// SizeBytes is the size of the ciphertext.
	SizeBytes int       `json:"size_bytes"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// columns are those of messages m that scan reads.
const columns = `m.id, m.contact_id, m.client_message_id, m.sender_id, m.recipient_id, m.nonce, m.ciphertext,
  m.encryption_version, m.sender_public_key, m.recipient_public_key, m.size_bytes, m.created_at, m.expires_at`

// scan reads rows of columns to their end.
func scan(rows *sql.Rows) ([]*Card, error) {
	defer rows.Close()
	cards := []*Card{}
	for rows.Next() {
		c := new(Card)
		err := rows.Scan(&c.ID, &c.ContactID, &c.ClientMessageID, &c.SenderID, &c.RecipientID, &c.Nonce, &c.Ciphertext,
			&c.EncryptionVersion, &c.SenderPublicKey, &c.RecipientPublicKey, &c.SizeBytes, &c.CreatedAt, &c.ExpiresAt)
		if err != nil {
			return nil, err
		}
		cards = append(cards, c)
	}
	return cards, rows.Err()
}
