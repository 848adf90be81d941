package keylog

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	format "stoa/rest/client/keylog"
)

// The purposes of the server's keys.
const (
	PurposeLog      = format.PurposeLog
	PurposeReceipts = format.PurposeReceipts
)

// PrivateKey derives a key of the server: each process of an installation derives the same.
func (a *API) PrivateKey(purpose string, number int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(Derive(a.Key, purpose+" ed25519 "+strconv.Itoa(number), ed25519.SeedSize))
}

// Derive derives size secret bytes from the installation's key. It panics without that key, because the result would not be
// secret.
func Derive(installationKey []byte, purpose string, size int) []byte {
	if len(installationKey) < sha256.Size {
		panic("keylog: the installation's key is not set")
	}
	derived, err := hkdf.Key(sha256.New, installationKey, nil, purpose, size)
	if err != nil {
		panic(fmt.Sprintf("keylog: %v", err)) // only sizes of kilobytes are refused
	}
	return derived
}

// JWK is a public Ed25519 key of the server as a JSON Web Key. Its id is its thumbprint (RFC 7638).
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	KeyID     string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}

// NewJWK returns the public half of a key.
func NewJWK(key ed25519.PrivateKey) JWK {
	x := base64.RawURLEncoding.EncodeToString(key[ed25519.SeedSize:])
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return JWK{"OKP", "Ed25519", x, base64.RawURLEncoding.EncodeToString(thumbprint[:]), "sig", "EdDSA"}
}

// keyEntry returns the log entry of a key of the server.
func (a *API) keyEntry(purpose string, number int) format.Entry {
	entry, _ := format.KeyEntry(purpose, a.PrivateKey(purpose, number)[ed25519.SeedSize:]) // it has the size of a key
	return entry
}

// signers returns the signers of checkpoints and their public keys: the present key, and the keys that retired less than 30 days
// ago.
func (a *API) signers(ctx context.Context, q db.Querier, origin string) (all []note.Signer, vkeys []string, err error) {
	numbers, err := db.Column[int](ctx, q, named("live_keys"), PurposeLog)
	if err != nil {
		return nil, nil, err
	}
	for _, number := range numbers {
		private := a.PrivateKey(PurposeLog, number)
		signer, err := format.NewLogSigner(origin, private)
		if err != nil {
			return nil, nil, fmt.Errorf("keylog: %w", err)
		}
		all, vkeys = append(all, signer), append(vkeys, format.LogKey(origin, ed25519.PublicKey(private[ed25519.SeedSize:])))
	}
	return all, vkeys, nil
}

// vkeys returns the public keys of signers for clients. A new key follows the others until its entry is in the log, because
// clients accept another first key only by its entry.
func (a *API) vkeys(ctx context.Context, q db.Querier, origin string) ([]string, error) {
	numbers, err := db.Column[int](ctx, q, named("live_keys"), PurposeLog)
	if err != nil {
		return nil, err
	}
	subjects := page.Map(numbers, func(number int) uuid.UUID { return subjectOf(a.keyEntry(PurposeLog, number).Bytes()) })
	entered, err := db.Column[uuid.UUID](ctx, q, named("entered"), db.IDs(subjects))
	if err != nil {
		return nil, err
	}
	var logged, waiting []string
	for i, number := range numbers {
		vkey := format.LogKey(origin, ed25519.PublicKey(a.PrivateKey(PurposeLog, number)[ed25519.SeedSize:]))
		if slices.Contains(entered, subjects[i]) {
			logged = append(logged, vkey)
		} else {
			waiting = append(waiting, vkey)
		}
	}
	return append(logged, waiting...), nil
}

// RotateKey retires the present key of a purpose, adds the next one with its entry in the queue, and returns its number. Only
// operators' procedures call it.
func (a *API) RotateKey(ctx context.Context, tx *db.Tx, purpose string) (int, error) {
	before, err := db.Column[int](ctx, tx.SQL, named("lock_key"), purpose)
	if err != nil {
		return 0, err
	}
	if len(before) != 1 {
		return 0, fmt.Errorf("keylog: %d present keys for %q", len(before), purpose)
	}
	number := before[0] + 1
	if err := db.Exec(ctx, tx.SQL, named("retire_key"), purpose); err != nil {
		return 0, err
	}
	if err := db.Exec(ctx, tx.SQL, named("add_key"), purpose, number); err != nil {
		return 0, err
	}
	entry := a.keyEntry(purpose, number)
	return number, db.Exec(ctx, tx.SQL, named("add_queue"), int(entry.Type), entry.Label[:], entry.Commitment[:])
}
