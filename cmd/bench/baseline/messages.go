package baseline

import (
	"context"
	"database/sql"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// Envelope is an encrypted message as its sender sends it.
type Envelope struct {
	RecipientID, ClientMessageID               uuid.UUID
	Nonce, Ciphertext, SenderKey, RecipientKey []byte
}

// Sent holds the fields that the server adds to a message.
type Sent struct {
	ID, ContactID, SenderID string
	Created, Expires        time.Time
}

const encryptionVersion = "box-v1"

// Sizes of the parts of an envelope, in bytes.
const (
	keySize       = 32
	nonceSize     = 24
	minCiphertext = 17
	maxCiphertext = 32 << 10
)

const sendText = `SELECT * FROM bench.send($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// Send stores a message and its event.
func (d *DB) Send(ctx context.Context, tokenHash []byte, e *Envelope) (*Sent, error) {
	var (
		fault             sql.NullString
		id, contact, from sql.NullString
		created, expires  sql.NullTime
	)
	err := d.statements[sendText].QueryRowContext(ctx, tokenHash, newID(), newID(), e.RecipientID, e.ClientMessageID,
		e.Nonce, e.Ciphertext, encryptionVersion, e.SenderKey, e.RecipientKey).Scan(&fault, &id, &contact, &from, &created, &expires)
	if err != nil {
		return nil, err
	}
	return &Sent{id.String, contact.String, from.String, created.Time, expires.Time}, faultError(fault)
}

func (d *DB) serveSend(r *http.Request, tokenHash, body, b []byte) ([]byte, error) {
	var in struct {
		RecipientID        string `json:"recipient_id"`
		ClientMessageID    string `json:"client_message_id"`
		Nonce              string `json:"nonce"`
		Ciphertext         string `json:"ciphertext"`
		EncryptionVersion  string `json:"encryption_version"`
		SenderPublicKey    string `json:"sender_public_key"`
		RecipientPublicKey string `json:"recipient_public_key"`
	}
	f := &fields{err: json.Unmarshal(body, &in)}
	e := &Envelope{
		RecipientID: f.id(in.RecipientID), ClientMessageID: f.id(in.ClientMessageID),
		Nonce: f.bytes(in.Nonce, nonceSize, nonceSize), Ciphertext: f.bytes(in.Ciphertext, minCiphertext, maxCiphertext),
		SenderKey: f.bytes(in.SenderPublicKey, keySize, keySize), RecipientKey: f.bytes(in.RecipientPublicKey, keySize, keySize),
	}
	if f.err != nil || in.EncryptionVersion != encryptionVersion {
		return nil, FaultError("invalid_input")
	}
	sent, err := d.Send(r.Context(), tokenHash, e)
	if err != nil {
		return nil, err
	}
	return appendMessage(b, sent, e), nil
}

func appendMessage(b []byte, s *Sent, e *Envelope) []byte {
	b = appendPlain(append(b, `{"message":{`...), "id", s.ID)
	b = appendPlain(append(b, ','), "contact_id", s.ContactID)
	b = appendPlain(append(b, ','), "client_message_id", e.ClientMessageID.String())
	b = appendPlain(append(b, ','), "sender_id", s.SenderID)
	b = appendPlain(append(b, ','), "recipient_id", e.RecipientID.String())
	b = base64.StdEncoding.AppendEncode(append(b, `,"nonce":"`...), e.Nonce)
	b = base64.StdEncoding.AppendEncode(append(b, `","ciphertext":"`...), e.Ciphertext)
	b = append(b, `","encryption_version":"`+encryptionVersion...)
	b = base64.StdEncoding.AppendEncode(append(b, `","sender_public_key":"`...), e.SenderKey)
	b = base64.StdEncoding.AppendEncode(append(b, `","recipient_public_key":"`...), e.RecipientKey)
	b = appendInt(append(b, `","size_bytes":`...), int64(len(e.Ciphertext)))
	b = appendTime(append(b, `,"created_at":`...), s.Created)
	b = appendTime(append(b, `,"expires_at":`...), s.Expires)
	return append(b, "}}"...)
}
