package webhooks

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/ent/webhook"
	"stoa/graph/keylog"
)

// The prefixes by which Standard Webhooks distinguishes keys.
const (
	secretPrefix = "whsec_"
	publicPrefix = "whpk_"
)

const (
	// secretSize is the size of a webhook's secret in bytes.
	secretSize = 32
	// rotationOverlap is how long after a rotation deliveries are also signed with the previous secret.
	rotationOverlap = 24 * time.Hour
)

// Keys holds the server's signing keys as a JSON Web Key Set (§4.12).
type Keys struct {
	Keys []Key `json:"keys"`
}

// Key is one public key of the server.
type Key struct {
	keylog.JWK

	// PublicKey is the same key in the format of Standard Webhooks.
	PublicKey string `json:"public_key"`
}

// PublishedKeys returns the keys with which receivers verify signatures v1a.
func (a *API) PublishedKeys() Keys {
	key := a.signingKey()
	return Keys{[]Key{{keylog.NewJWK(key), publicPrefix + base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:])}}}
}

// signingKey returns the server's key; each process of an installation derives the same.
func (a *API) signingKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(keylog.Derive(a.Key, "stoa webhooks ed25519", ed25519.SeedSize))
}

// secret returns the bytes of a webhook's secret after a number of rotations.
func (a *API) secret(id uuid.UUID, number int) []byte {
	return keylog.Derive(a.Key, "stoa webhook secret "+id.String()+" "+strconv.Itoa(number), secretSize)
}

// secretText returns the secret in the form for its agent.
func (a *API) secretText(id uuid.UUID, number int) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(a.secret(id, number))
}

// sign returns the value of the header webhook-signature.
func (a *API) sign(d *attempt, body []byte) string {
	content := []byte(d.EventID.String() + "." + strconv.FormatInt(d.Now.Unix(), 10) + "." + string(body))
	if d.Signing == webhook.SigningV1a {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(a.signingKey(), content))
	}
	numbers := []int{d.SecretNumber}
	if d.RotatedAt != nil && d.Now.Before(d.RotatedAt.Add(rotationOverlap)) {
		numbers = append(numbers, d.SecretNumber-1)
	}
	signatures := make([]string, len(numbers))
	for i, number := range numbers {
		mac := hmac.New(sha256.New, a.secret(d.WebhookID, number))
		mac.Write(content)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
