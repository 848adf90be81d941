package messages_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"stoa/graph/messages"
	"stoa/graph/platform/wire"
)

// BenchmarkDecode reads and judges the body of a message with a box of 1 KiB.
func BenchmarkDecode(b *testing.B) {
	encoded := func(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }
	body := fmt.Appendf(nil, `{"recipient_id":"%s","client_message_id":"%s","nonce":"%s","ciphertext":"%s","encryption_version":"box-v1",`+
		`"sender_public_key":"%s","recipient_public_key":"%s"}`, uuid.New(), uuid.New(), encoded(24), encoded(1<<10), encoded(32), encoded(32))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var in messages.SendInput
		if err := in.DecodeBody(body); err != nil {
			b.Fatal(err)
		}
		if _, err := in.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCard writes a message with a box of 1 KiB.
func BenchmarkCard(b *testing.B) {
	card := &messages.Card{
		ID: uuid.New(), Nonce: make([]byte, 24), Ciphertext: make([]byte, 1<<10), EncryptionVersion: messages.Version,
		SenderPublicKey: make([]byte, 32), RecipientPublicKey: make([]byte, 32), SizeBytes: 1 << 10, CreatedAt: time.Now(), ExpiresAt: time.Now(),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.Marshal(card); err != nil {
			b.Fatal(err)
		}
	}
}
