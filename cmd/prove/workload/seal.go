package workload

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// delivered is the body of a delivery to a webhook (§4.12).
type delivered struct {
	Type      string          `json:"type"`
	BotID     string          `json:"bot_id"`
	WebhookID string          `json:"webhook_id"`
	Data      json.RawMessage `json:"data"`
}

// seal says whether a signature is one of a text. Its scheme stands before the signature.
type seal struct {
	scheme string
	fits   func(signature, text []byte) bool
}

var errNoKey = errors.New("a webhook's key cannot be read")

// secretSeal is that of a webhook with a secret.
func secretSeal(secret string) (seal, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return seal{}, errNoKey
	}
	return seal{"v1", func(signature, text []byte) bool {
		sum := hmac.New(sha256.New, key)
		sum.Write(text)
		return hmac.Equal(signature, sum.Sum(nil))
	}}, nil
}

// publicSeal is that of the server's own key, of /.well-known/stoa-keys.json.
func publicSeal(published []byte) (seal, error) {
	var set struct {
		Keys []struct {
			PublicKey string `json:"public_key"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(published, &set); err != nil || len(set.Keys) == 0 {
		return seal{}, errNoKey
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(set.Keys[0].PublicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return seal{}, errNoKey
	}
	return seal{"v1a", func(signature, text []byte) bool { return ed25519.Verify(key, text, signature) }}, nil
}

// signedWithin is how far the time of an attempt may be from that of the receiver, whose clock is the database's.
const signedWithin = 2 * time.Minute

// wrong says what a careful receiver objects to in a delivery, or nothing.
func (h *hook) wrong(header http.Header, body []byte, sent delivered) string {
	event, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	text := []byte(event + "." + at + "." + string(body))
	genuine := false
	for one := range strings.FieldsSeq(header.Get("webhook-signature")) {
		scheme, encoded, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		genuine = genuine || err == nil && scheme == h.seal.scheme && h.seal.fits(signature, text)
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	switch {
	case event == "":
		return "it has no webhook-id"
	case !genuine:
		return "no signature of it is right"
	case err != nil || time.Since(time.Unix(seconds, 0)).Abs() > signedWithin:
		return fmt.Sprintf("its time is %q", at)
	case sent.BotID != h.agent.ID:
		return "it is for the agent " + sent.BotID
	case sent.WebhookID != h.id:
		return "it is for the webhook " + sent.WebhookID
	}
	return ""
}
