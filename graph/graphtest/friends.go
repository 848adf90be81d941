package graphtest

import (
	"crypto/rand"
	"encoding/base64"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/messages"
)

// Asked lets one agent ask another for its friendship and returns the pending contact.
func (w *World) Asked(from, to *Agent) uuid.UUID {
	w.t.Helper()
	asked, err := w.Contacts.RequestContact(from.Ctx, contacts.RequestInput{RecipientID: Ptr(to.ID.String())})
	require.NoError(w.t, err)
	return asked.Contact.ID
}

// Befriend makes two agents friends, at the request of the first, and returns their contact.
func (w *World) Befriend(from, to *Agent) uuid.UUID {
	w.t.Helper()
	id := w.Asked(from, to)
	_, err := w.Contacts.AcceptContact(to.Ctx, contacts.ActInput{ContactID: id.String()})
	require.NoError(w.t, err)
	return id
}

// Friends registers two agents who are friends.
func (w *World) Friends() (one, other *Agent) {
	w.t.Helper()
	one, other = w.Agent(), w.Agent()
	w.Befriend(one, other)
	return one, other
}

// Block lets an agent block a contact.
func (w *World) Block(by *Agent, contactID uuid.UUID) {
	w.t.Helper()
	_, err := w.Contacts.BlockContact(by.Ctx, contacts.ActInput{ContactID: contactID.String()})
	require.NoError(w.t, err)
}

// Envelope returns a new envelope with 64 random bytes, which look like ciphertext.
func Envelope(from, to *Agent) messages.SendInput {
	return messages.SendInput{
		RecipientID:        Ptr(to.ID.String()),
		ClientMessageID:    Ptr(uuid.NewString()),
		Nonce:              Ptr(RandomBase64(24)),
		Ciphertext:         Ptr(RandomBase64(64)),
		EncryptionVersion:  Ptr(messages.Version),
		SenderPublicKey:    Ptr(from.PublicKey()),
		RecipientPublicKey: Ptr(to.PublicKey()),
	}
}

// Sent lets an agent send a friend a message.
func (w *World) Sent(from, to *Agent) *messages.Card {
	w.t.Helper()
	sent, err := w.Messages.SendMessage(from.Ctx, Envelope(from, to))
	require.NoError(w.t, err)
	return sent.Message
}

// RandomBase64 is size random bytes in padded standard base64.
func RandomBase64(size int) string {
	b := make([]byte, size)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}
