package receipt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Keys are keys that sign receipts, by their thumbprints (RFC 7638).
type Keys map[string]Key

// Key is a key of Ed25519, and the proof that the log of its server announces it; nil in a set without proofs.
type Key struct {
	Public ed25519.PublicKey
	Index  *int64
	Proof  *string
}

// ParseKeys reads a JSON Web Key Set. Keys of other kinds are left out; it returns an error if none is left.
func ParseKeys(raw []byte) (Keys, error) {
	var set struct {
		Keys []struct {
			KeyType  string  `json:"kty"`
			Curve    string  `json:"crv"`
			X        string  `json:"x"`
			LogIndex *int64  `json:"log_index"`
			LogProof *string `json:"log_proof"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("no JSON Web Key Set: %w", err)
	}
	keys := make(Keys)
	for _, key := range set.Keys {
		public, err := strict.DecodeString(key.X)
		if key.KeyType == "OKP" && key.Curve == "Ed25519" && err == nil && len(public) == ed25519.PublicKeySize {
			thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + key.X + `"}`))
			keys[strict.EncodeToString(thumbprint[:])] = Key{public, key.LogIndex, key.LogProof}
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no key of Ed25519")
	}
	return keys, nil
}

// strict refuses texts that another decoder would read as the same bytes.
var strict = base64.RawURLEncoding.Strict()

// algorithms are the names of the one algorithm: of RFC 8037 and of RFC 9864.
var algorithms = []string{"EdDSA", "Ed25519"}

// jws is a JSON Web Signature in its compact form.
type jws struct {
	header struct {
		Algorithm string          `json:"alg"`
		Type      string          `json:"typ"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	signed             string
	payload, signature []byte
}

func parse(compact string) (*jws, error) {
	parts := strings.Split(compact, ".")
	if len(parts) != 3 {
		return nil, errors.New("a JWS has three parts")
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if strings.ContainsAny(part, "\r\n") {
			return nil, errors.New("a JWS has no line breaks")
		}
		if raw[i], err = strict.DecodeString(part); err != nil {
			return nil, fmt.Errorf("a part of the JWS: %w", err)
		}
	}
	j := &jws{signed: parts[0] + "." + parts[1], payload: raw[1], signature: raw[2]}
	if err := json.Unmarshal(raw[0], &j.header); err != nil {
		return nil, fmt.Errorf("the header of the JWS: %w", err)
	}
	return j, nil
}

// fits checks the header.
func (j *jws) fits(kind string) error {
	switch {
	case !slices.Contains(algorithms, j.header.Algorithm):
		return fmt.Errorf("the algorithm is %q, not EdDSA", j.header.Algorithm)
	case j.header.Type != kind:
		return fmt.Errorf("the type is %q, not %q", j.header.Type, kind)
	case j.header.Critical != nil:
		return errors.New("the header has critical members, and none is known")
	default:
		return nil
	}
}

func (j *jws) by(key ed25519.PublicKey) bool {
	return ed25519.Verify(key, []byte(j.signed), j.signature)
}
