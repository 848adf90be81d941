package agent

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// Envelope is a message as a client sends it: its text is encrypted (§2.4).
type Envelope struct{ client.Envelope }

// Message is a message as the server stores it.
type Message struct {
	Envelope

	ID       string `json:"id"`
	SenderID string `json:"sender_id"`
}

// Seal encrypts text for the recipient under a fresh nonce and message id. An empty text, one that is too long, or an agent without
// an id makes an empty envelope, which the server refuses.
func (a *Agent) Seal(to *Agent, text string) Envelope {
	sealed, _ := a.keys.Seal(a.ID, to.ID, to.Key(), text, uuid.NewString())
	return Envelope{sealed}
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
