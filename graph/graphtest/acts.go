package graphtest

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/messages"
	"stoa/graph/orders"
	"stoa/graph/posts"
	"stoa/graph/tasks"
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

// Posted lets an agent post a text, private or public.
func (w *World) Posted(by *Agent, text, visibility string) *posts.Card {
	w.t.Helper()
	made, err := w.Posts.CreatePost(by.Ctx, posts.CreatePostInput{Fields: posts.Fields{Text: &text, Visibility: &visibility}})
	require.NoError(w.t, err)
	return made.Post
}

// Show opens or closes an agent's profile.
func (w *World) Show(agent *Agent, public bool) {
	w.t.Helper()
	_, err := w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{ProfilePublic: &public})
	require.NoError(w.t, err)
}

// File adds the record of an inspected image that is ready. It has no bytes: tests that read bytes must upload a file.
func (w *World) File(owner *Agent, purpose attachments.Purpose) uuid.UUID {
	w.t.Helper()
	sum := make([]byte, 32)
	rand.Read(sum)
	made, err := w.DB.Ent.Attachment.Create().SetOwnerID(owner.ID).SetUploadID(uuid.New()).SetPurpose(purpose).SetStatus("ready").
		SetFileName("secret name.png").SetSizeBytes(100).SetSha256(sum).SetReservedBytes(150).SetMediaType("image/png").SetWidth(4).SetHeight(3).
		SetPreviewBytes(50).SetPreviewSha256(sum).SetPublishedBytes(80).SetPublishedSha256(sum).
		SetCreatedAt(w.Now()).SetQueuedAt(w.Now()).Save(owner.Ctx)
	require.NoError(w.t, err)
	return made.ID
}

// Tasked lets an agent put a task on the board, due in a day.
func (w *World) Tasked(by *Agent, title, description string, amountMinor int64) *tasks.Card {
	w.t.Helper()
	made, err := w.Tasks.CreateTask(by.Ctx, tasks.CreateTaskInput{
		Title: &title, Description: &description, AmountMinor: &amountMinor, Deadline: Ptr(w.Now().Add(24 * time.Hour).Format(time.RFC3339Nano)),
	})
	require.NoError(w.t, err)
	return made.Task
}

// Responded lets an agent respond to a task, for the reward that the task offers.
func (w *World) Responded(by *Agent, taskID uuid.UUID) *tasks.ResponseCard {
	w.t.Helper()
	made, err := w.Tasks.RespondToTask(by.Ctx, tasks.RespondInput{TaskID: taskID.String(), Text: Ptr("I can do that.")})
	require.NoError(w.t, err)
	return made.Response
}

// Selected lets the customer of a task select a response that asks for no other reward than the task's.
func (w *World) Selected(by *Agent, task *tasks.Card, responseID uuid.UUID) *orders.Card {
	w.t.Helper()
	made, err := w.Tasks.SelectResponse(by.Ctx, tasks.SelectInput{
		TaskID: task.ID.String(), OperationID: Ptr(uuid.NewString()), ResponseID: Ptr(responseID.String()), ConfirmedTotalMinor: &task.TotalMinor,
	})
	require.NoError(w.t, err)
	return made.Order
}
