package workload

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"

	"stoa/cmd/prove/history"
)

// sendMessage seals a text for a friend and sends it until it is answered.
func (a *Agent) sendMessage(ctx context.Context) {
	a.repeat(ctx, a.seal(a.friend(), newNonce()))
}

func newNonce() (nonce [24]byte) {
	_, _ = rand.Read(nonce[:]) // it never fails
	return nonce
}

// seal is a request that sends a new message, which it records.
func (a *Agent) seal(to *Agent, nonce [24]byte) request {
	return a.sealAs(uuid.NewString(), to, nonce)
}

// sealAs is the same under an id, which may be another message's.
func (a *Agent) sealAs(id string, to *Agent, nonce [24]byte) request {
	text := fmt.Sprintf("%s to %s: %s", a.Handle, to.Handle, id)
	sealed := base64.StdEncoding.EncodeToString(box.Seal(nil, []byte(text), &nonce, to.public, a.private))
	a.w.Recorder.Record(func(h *history.History) {
		h.Sent = append(h.Sent, history.Sent{
			ClientMessageID: id, Sender: a.Handle, Recipient: to.Handle, Nonce: encode(nonce[:]), Ciphertext: sealed, Text: text,
		})
	})
	return request{operation: history.MessageSend, id: id, subject: to.Handle, method: http.MethodPost, path: "/messages", keep: true,
		body: map[string]string{
			"recipient_id": to.ID, "client_message_id": id, "nonce": encode(nonce[:]), "ciphertext": sealed,
			"encryption_version": "box-v1", "sender_public_key": a.key(), "recipient_public_key": to.key(),
		}}
}

// readMessages reads the newest messages with a friend.
func (a *Agent) readMessages(ctx context.Context) {
	to := a.friend()
	a.once(ctx, request{operation: "message.list", subject: to.Handle, method: http.MethodGet, path: "/messages?peer=" + to.ID})
}

// messageStep is how many messages of a page are kept before the next one is asked for: any message may end a page (§1.5), and few
// conversations fill one.
const messageStep = 20

// allMessages reads the whole conversation with a friend, oldest first.
func (a *Agent) allMessages(ctx context.Context, with *Agent) ([]history.Message, error) {
	var all []history.Message
	before := ""
	for {
		got := a.once(ctx, request{operation: "message.list", subject: with.Handle, method: http.MethodGet,
			path: "/messages?peer=" + with.ID + before})
		var page struct {
			Messages []struct {
				history.Message

				Nonce string `json:"nonce"`
			} `json:"messages"`
			NextBefore *string `json:"next_before"`
		}
		if !got.succeeded() {
			return nil, fmt.Errorf("messages of %s and %s: %d %s", a.Handle, with.Handle, got.status, got.body)
		}
		if err := json.Unmarshal(got.body, &page); err != nil {
			return nil, err
		}
		read := page.Messages[:min(messageStep, len(page.Messages))]
		for _, m := range read {
			m.Text = a.open(with, m.Nonce, m.Ciphertext)
			all = append(all, m.Message)
		}
		if len(read) == len(page.Messages) && page.NextBefore == nil {
			break
		}
		before = "&before=" + read[len(read)-1].ID
	}
	slices.Reverse(all)
	return all, nil
}

// open decrypts a message that either side sealed; the key is the same. It returns nothing where that fails.
func (a *Agent) open(with *Agent, nonce, ciphertext string) string {
	rawNonce, err := base64.StdEncoding.DecodeString(nonce)
	if err != nil || len(rawNonce) != 24 {
		return ""
	}
	sealed, err := base64.StdEncoding.DecodeString(ciphertext)
	if err != nil {
		return ""
	}
	text, ok := box.Open(nil, sealed, (*[24]byte)(rawNonce), with.public, a.private)
	if !ok {
		return ""
	}
	return string(text)
}
