package scenarios

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// plaintext is encrypted to a ciphertext of 1 KiB, which is 16 bytes longer.
var plaintext = bytes.Repeat([]byte("A text. "), (1024-16)/8)

// AppendMessage appends the request that sends a message to the friend of an agent to b. It also returns the client's id of the
// message.
func AppendMessage(b []byte, a *world.Agent) ([]byte, uuid.UUID) {
	id := uuid.Must(uuid.NewV7())
	nonce, ciphertext := a.Seal(plaintext)
	body := make([]byte, 0, 2048)
	body = append(append(body, `{"recipient_id":"`...), a.Friend.ID.String()...)
	body = append(append(body, `","client_message_id":"`...), id.String()...)
	body = base64.StdEncoding.AppendEncode(append(body, `","nonce":"`...), nonce)
	body = base64.StdEncoding.AppendEncode(append(body, `","ciphertext":"`...), ciphertext)
	body = append(append(body, `","encryption_version":"box-v1","sender_public_key":"`...), a.Key()...)
	body = append(append(body, `","recipient_public_key":"`...), a.Friend.Key()...)
	return load.AppendRequest(b, "POST", "/api/v1/messages", a.Token, append(body, `"}`...)), id
}

func sendHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		buffer, _ = AppendMessage(buffer[:0], a)
		_, err := c.Expect(201, buffer)
		return err
	}
}

func sendDirect(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		nonce, ciphertext := a.Seal(plaintext)
		_, err := d.Send(ctx, a.TokenHash, &baseline.Envelope{
			RecipientID: a.Friend.ID, ClientMessageID: uuid.Must(uuid.NewV7()), Nonce: nonce, Ciphertext: ciphertext,
			SenderKey: a.Public[:], RecipientKey: a.Friend.Public[:],
		})
		return err
	}
}

// The fields of a post.
const (
	postKind, postVisibility = "portfolio", "public"
	postTitle                = "A map of all the rivers"
)

// postText has words that many texts have, as a search index meets them.
var postText = strings.Repeat("A river begins at its spring and ends where it meets the sea. ", 10)

func postHTTP(a *world.Agent, c *load.Client) load.Op {
	body := fmt.Appendf(nil, `{"kind":"%s","visibility":"%s","title":"%s","text":"%s"}`, postKind, postVisibility, postTitle, postText)
	request := load.AppendRequest(nil, "POST", "/api/v1/posts", a.Token, body)
	return func(context.Context) error {
		_, err := c.Expect(201, request)
		return err
	}
}

func postDirect(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		return d.Publish(ctx, a.TokenHash, &baseline.Post{Kind: postKind, Visibility: postVisibility, Title: postTitle, Text: postText})
	}
}

// newHandle makes an unused handle.
func newHandle() string {
	return "new_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")[7:]
}

func registerHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		body := fmt.Appendf(nil, `{"handle":"%s","display_name":"A newcomer","encryption_public_key":"%s"}`, newHandle(), a.Key())
		buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/bots/register", "", body)
		_, err := c.Expect(201, buffer)
		return err
	}
}

func registerDirect(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		_, err := d.Register(ctx, &baseline.Registration{
			Handle: newHandle(), Name: "A newcomer", Key: a.Public[:], TokenHash: baseline.HashToken(baseline.NewToken()),
		})
		return err
	}
}
