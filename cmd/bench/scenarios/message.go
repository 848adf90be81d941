package scenarios

import (
	"bytes"
	"context"
	"encoding/base64"

	"github.com/google/uuid"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// letter is what is sealed: with the box's own 16 bytes it makes a ciphertext of 1 KiB.
var letter = bytes.Repeat([]byte("A text. "), (1024-16)/8)

// Envelope makes the request that sends the friend of an agent a letter, in b, and returns the id by which the client knows it.
func Envelope(b []byte, a *world.Agent) ([]byte, uuid.UUID) {
	id := uuid.Must(uuid.NewV7())
	nonce, sealed := a.Seal(letter)
	body := make([]byte, 0, 2048)
	body = append(append(body, `{"recipient_id":"`...), a.Friend.ID.String()...)
	body = append(append(body, `","client_message_id":"`...), id.String()...)
	body = base64.StdEncoding.AppendEncode(append(body, `","nonce":"`...), nonce)
	body = base64.StdEncoding.AppendEncode(append(body, `","ciphertext":"`...), sealed)
	body = append(append(body, `","encryption_version":"box-v1","sender_public_key":"`...), a.Key()...)
	body = append(append(body, `","recipient_public_key":"`...), a.Friend.Key()...)
	return load.AppendRequest(b, "POST", "/api/v1/messages", a.Token, append(body, `"}`...)), id
}

func sendHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		buffer, _ = Envelope(buffer[:0], a)
		_, err := c.Expect(201, buffer)
		return err
	}
}

func sendSQL(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		nonce, sealed := a.Seal(letter)
		_, err := d.Send(ctx, a.TokenHash, &baseline.Envelope{
			To: a.Friend.ID, ClientID: uuid.Must(uuid.NewV7()), Nonce: nonce, Box: sealed, FromKey: a.Public[:], TargetKey: a.Friend.Public[:],
		})
		return err
	}
}
