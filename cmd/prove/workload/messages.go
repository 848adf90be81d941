package workload

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

func newNonce() (nonce [24]byte) {
	_, _ = rand.Read(nonce[:]) // it never fails
	return nonce
}

// seal is a request that sends a new message, which it records.
func (a *Agent) seal(to *Agent) request { return a.sealAs(uuid.NewString(), to, newNonce()) }

// sealAs is like seal, with an id and a nonce, which another message may have.
func (a *Agent) sealAs(id string, to *Agent, nonce [24]byte) request {
	text := fmt.Sprintf("%s to %s: %s", a.Handle, to.Handle, id)
	sealed, _ := a.keys.SealWith(to.ID, to.keys.Public(), text, id, nonce) // the key and the text are sound
	sent := history.Sent{
		ClientMessageID: id, Sender: a.Handle, Recipient: to.Handle, Nonce: sealed.Nonce, Text: text, Ciphertext: sealed.Ciphertext,
	}
	a.w.Recorder.Record(func(h *history.History) { h.Sent = append(h.Sent, sent) })
	return request{operation: history.MessageSend, id: id, subject: to.Handle, body: sealed}
}

// sendMessage seals a text for a friend and sends it until it is answered.
func (a *Agent) sendMessage(ctx context.Context) { a.repeat(ctx, a.seal(a.friend())) }

// readMessages reads the newest messages with a friend.
func (a *Agent) readMessages(ctx context.Context) { a.once(ctx, a.conversation(a.friend())) }

func (a *Agent) conversation(with *Agent) request {
	return request{operation: "message.list", subject: with.Handle, part: with.ID}
}

// messageStep is how many messages of a page are kept before the next page is requested: any message may end a page (§1.5), and
// few conversations fill one.
const messageStep = 20

// allMessages reads the whole conversation with a friend, oldest first.
func (a *Agent) allMessages(ctx context.Context, with *Agent) (all []history.Message, err error) {
	type message struct {
		history.Message

		Nonce string `json:"nonce"`
	}
	read, err := pages[message](ctx, a, a.conversation(with), "messages", messageStep)
	for _, m := range slices.Backward(read) {
		m.Text, _ = a.keys.Open(client.Envelope{ // the judge notices if it does not open
			Version: client.Version, SenderKey: with.keys.Public(), RecipientKey: a.keys.Public(), Nonce: m.Nonce, Ciphertext: m.Ciphertext,
		})
		all = append(all, m.Message)
	}
	return all, err
}
