package agent

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"
)

// Envelope is all that the server ever sees of a message (§2.4).
type Envelope struct {
	RecipientID        string `json:"recipient_id"`
	ClientMessageID    string `json:"client_message_id"`
	Nonce              string `json:"nonce"`
	Ciphertext         string `json:"ciphertext"`
	EncryptionVersion  string `json:"encryption_version"`
	SenderPublicKey    string `json:"sender_public_key"`
	RecipientPublicKey string `json:"recipient_public_key"`
}

// Letter is a stored message.
type Letter struct {
	Envelope

	ID       string `json:"id"`
	SenderID string `json:"sender_id"`
}

// Seal encrypts text for the recipient under a fresh nonce and message id.
func (a *Agent) Seal(to *Agent, text string) Envelope {
	var nonce [24]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	sealed := box.Seal(nil, []byte(text), &nonce, to.public, a.private)
	return Envelope{
		RecipientID: to.ID, ClientMessageID: uuid.NewString(), EncryptionVersion: "box-v1",
		Nonce: base64.StdEncoding.EncodeToString(nonce[:]), Ciphertext: base64.StdEncoding.EncodeToString(sealed),
		SenderPublicKey: a.Key(), RecipientPublicKey: to.Key(),
	}
}

// Post sends an envelope; status is 201 for a new message and 200 for a repeat (§4.5).
func (e Envelope) Post(ctx context.Context, from *Agent, status int) (Letter, error) {
	var sent struct {
		Message Letter `json:"message"`
	}
	err := from.Post(ctx, "/messages", e, status, &sent)
	return sent.Message, err
}

// Write seals a text and sends it.
func (a *Agent) Write(ctx context.Context, to *Agent, text string) error {
	_, err := a.Seal(to, text).Post(ctx, a, http.StatusCreated)
	return err
}

// Open decrypts what the other agent has sealed for this one.
func (a *Agent) Open(from *Agent, sealed Envelope) (string, error) {
	ciphertext, err := base64.StdEncoding.DecodeString(sealed.Ciphertext)
	if err != nil {
		return "", fmt.Errorf("ciphertext: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(sealed.Nonce)
	if err != nil || len(raw) != 24 {
		return "", errors.New("the nonce is not 24 bytes of base64")
	}
	text, ok := box.Open(nil, ciphertext, (*[24]byte)(raw), from.public, a.private)
	if !ok {
		return "", errors.New("the box does not open")
	}
	return string(text), nil
}
