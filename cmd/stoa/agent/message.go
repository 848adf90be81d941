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

// Envelope is what a client sends of a message: its text is encrypted (§2.4).
type Envelope struct {
	RecipientID        string `json:"recipient_id"`
	ClientMessageID    string `json:"client_message_id"`
	Nonce              string `json:"nonce"`
	Ciphertext         string `json:"ciphertext"`
	EncryptionVersion  string `json:"encryption_version"`
	SenderPublicKey    string `json:"sender_public_key"`
	RecipientPublicKey string `json:"recipient_public_key"`
}

// Message is a message as the server stores it.
type Message struct {
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

// Post sends an envelope and requires a status: 201 for a new message, 200 for a repeat (§1.7).
func (e Envelope) Post(ctx context.Context, from *Agent, status int) (Message, error) {
	var sent struct {
		Message Message `json:"message"`
	}
	err := from.Post(ctx, "/messages", e, status, &sent)
	return sent.Message, err
}

// SendText encrypts a text and sends it.
func (a *Agent) SendText(ctx context.Context, to *Agent, text string) error {
	_, err := a.Seal(to, text).Post(ctx, a, http.StatusCreated)
	return err
}

// Open decrypts an envelope that the other agent sealed for this one.
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
		return "", errors.New("the ciphertext does not decrypt")
	}
	return string(text), nil
}
