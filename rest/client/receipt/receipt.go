// Package receipt checks receipts and the documents of ratings without their server (docs/contract.md §12.5): the signature, the
// entry in the key log, and whether the documents match. It makes no requests. The caller decides which keys to trust: keys
// inside a file prove only that the file is consistent. Everything is safe for concurrent use.
package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
)

// Findings of a check, the worst first. Each error of Verify wraps one of them.
var (
	// ErrInvalid: a signature or a proof is wrong, or the documents do not match each other.
	ErrInvalid = errors.New("the receipt is not valid")
	// ErrUnvouched: all checks that are possible pass, but no trusted key signed it.
	ErrUnvouched = errors.New("none of the keys that you trust signed it")
	// ErrUnlogged: a trusted key signed it, but it is in no log, or a witness has not signed the log's head.
	ErrUnlogged = errors.New("it is not in a witnessed log")
)

// Trust has the keys that the caller trusts.
type Trust struct {
	// Keys sign receipts. If Logs is set, each key needs the proof that the log announces it.
	Keys Keys
	// Logs are the keys of the log, from keylog.ParseLogKey. Any of them may have signed.
	Logs []note.Verifier
	// Witnesses must all have signed the head of the log (keylog.ParseWitnessKey).
	Witnesses []note.Verifier
}

// Document is a signed document of a file.
type Document struct {
	JWS   string  `json:"jws"`
	Salt  []byte  `json:"salt"`
	Index *int64  `json:"index"`
	Proof *string `json:"proof"`
}

// Receipt is a receipt in the form of the API and of archives.
type Receipt struct {
	Document
	ID      string     `json:"id"`
	OrderID string     `json:"order_id"`
	Ratings []Document `json:"ratings"`
}

// File is the answer of GET /api/v1/orders/{id}/receipt, or the site's document of a rating.
type File struct {
	Receipt *Receipt  `json:"receipt"`
	Rating  *Document `json:"rating"`
	// JWKS has the keys inside the file. They are never trusted.
	JWKS json.RawMessage `json:"jwks"`
	// alone: the file is a JWS, so nothing beside it names the receipt.
	alone bool
}

// read reads a file: an answer, an entry of the list of receipts, which is a line of an archive's receipts.jsonl, or a JWS alone.
func read(raw []byte) (*File, error) {
	file := new(File)
	if text := string(bytes.TrimSpace(raw)); strings.HasPrefix(text, "ey") {
		file.Receipt, file.alone = &Receipt{Document: Document{JWS: text}}, true
		return file, nil
	}
	err := json.Unmarshal(raw, file)
	if err == nil && file.Receipt == nil && file.Rating == nil {
		file.Receipt = new(Receipt)
		err = json.Unmarshal(raw, file.Receipt)
	}
	if err != nil {
		return nil, invalid("it is no JSON of a receipt: %v", err)
	}
	if file.Receipt != nil && file.Receipt.JWS == "" {
		return nil, invalid("the file has neither receipt nor rating")
	}
	return file, nil
}

// Party is a participant of an order.
type Party struct {
	ID             string  `json:"id"`
	Handle         string  `json:"handle"`
	KeyFingerprint *string `json:"key_fingerprint"`
}

// OrderFile is a file of an order.
type OrderFile struct {
	SHA256    string  `json:"sha256"`
	SizeBytes int64   `json:"size_bytes"`
	MediaType *string `json:"media_type"`
}

// Payload has the members of a receipt that the checks need. Raw is the whole payload.
type Payload struct {
	Issuer      string      `json:"iss"`
	ID          string      `json:"jti"`
	OrderID     string      `json:"sub"`
	Version     int         `json:"v"`
	Outcome     string      `json:"outcome"`
	Customer    Party       `json:"customer"`
	Contractor  Party       `json:"contractor"`
	AmountMinor int64       `json:"amount_minor"`
	FeeMinor    int64       `json:"fee_minor"`
	TotalMinor  int64       `json:"total_minor"`
	TermsSHA256 string      `json:"terms_sha256"`
	InputFiles  []OrderFile `json:"input_files"`
	ResultFiles []OrderFile `json:"result_files"`
	ClosedAt    *string     `json:"closed_at"`

	Raw json.RawMessage `json:"-"`
}

// Rating is the payload of a rating's document.
type Rating struct {
	Issuer     string  `json:"iss"`
	ID         string  `json:"jti"`
	OrderID    string  `json:"sub"`
	Receipt    string  `json:"receipt"`
	AuthorID   string  `json:"author_id"`
	SubjectID  string  `json:"subject_id"`
	Stars      int     `json:"stars"`
	TextSHA256 *string `json:"text_sha256"`
	Version    int     `json:"v"`
}

// Verified has the payloads of the documents in a file.
type Verified struct {
	Receipt *Payload
	Ratings []Rating
	// Heads are the heads of the log that include the documents, if a trusted key signed them.
	Heads []keylog.Witnessed
}

// The types of documents, and their version.
const (
	receiptType = "stoa-receipt+jwt"
	ratingType  = "stoa-rating+jwt"
	version     = 1
)

// Verify checks a file. If the documents are valid, it returns their payloads, even if the error is ErrUnvouched or ErrUnlogged.
// Of several findings it returns the worst.
func Verify(raw []byte, trust Trust) (*Verified, error) {
	file, err := read(raw)
	if err != nil {
		return nil, err
	}
	var own Keys
	if file.JWKS != nil {
		own, _ = ParseKeys(file.JWKS) // keys that cannot be read are ignored
	}
	c := &check{trust: trust, own: own, found: new(Verified)}
	if file.Receipt != nil {
		c.receipt(file)
	} else if rating, ok := c.rating(file.Rating); ok {
		c.found.Ratings = append(c.found.Ratings, rating)
	}
	for _, worst := range []error{ErrInvalid, ErrUnvouched, ErrUnlogged} {
		for _, err := range c.errs {
			if !errors.Is(err, worst) {
				continue
			}
			if errors.Is(worst, ErrInvalid) {
				return nil, err
			}
			return c.found, err
		}
	}
	return c.found, nil
}

func invalid(format string, args ...any) error { return finding(ErrInvalid, format, args...) }

func finding(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}

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

// strict decodes base64 only in its one canonical form.
var strict = base64.RawURLEncoding.Strict()

// algorithms are the names of the one algorithm: of RFC 8037 and of RFC 9864.
var algorithms = []string{"EdDSA", "Ed25519"}

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
	if len(parts) != 3 || strings.ContainsAny(compact, "\r\n") {
		return nil, errors.New("a JWS has three parts, and no line breaks")
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
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
