package keylog

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/note"

	"stoa/graph/platform/db"
)

// The purposes of the server's keys.
const (
	PurposeLog      = "log"
	PurposeReceipts = "receipts"
)

// PrivateKey derives a key of the server: each process of an installation derives the same. It panics without the
// installation's key, since what it derived would not be secret.
func (a *API) PrivateKey(purpose string, number int) ed25519.PrivateKey {
	if len(a.Key) < sha256.Size {
		panic("keylog: the installation's key is not set")
	}
	seed, err := hkdf.Key(sha256.New, a.Key, nil, purpose+" ed25519 "+strconv.Itoa(number), ed25519.SeedSize)
	if err != nil {
		panic(fmt.Sprintf("keylog: %v", err)) // only sizes of kilobytes are refused
	}
	return ed25519.NewKeyFromSeed(seed)
}

// keyEntry is the entry of a key of the server.
func (a *API) keyEntry(purpose string, number int) []byte {
	return entry(typeKey, digest(purpose), a.PrivateKey(purpose, number)[ed25519.SeedSize:])
}

// signer signs as a log with that origin. It implements note.Signer; the library's own is made from a text only.
type signer struct {
	origin string
	key    ed25519.PrivateKey
}

// public is the key with its type in a signed note, Ed25519.
func (s signer) public() []byte {
	const ed25519Key = 1
	return append([]byte{ed25519Key}, s.key[ed25519.SeedSize:]...)
}

// Name implements note.Signer.
func (s signer) Name() string { return s.origin }

// KeyHash implements note.Signer.
func (s signer) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(s.origin+"\n"), s.public()...))
	return binary.BigEndian.Uint32(sum[:])
}

// Sign implements note.Signer.
func (s signer) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.key, text), nil }

// vkey is the public key as a signed note's verifiers take it.
func (s signer) vkey() string {
	return fmt.Sprintf("%s+%08x+%s", s.origin, s.KeyHash(), base64.StdEncoding.EncodeToString(s.public()))
}

// vkeys are the public keys of signers.
func vkeys(signers []note.Signer) []string {
	all := make([]string, len(signers))
	for i, s := range signers {
		all[i] = s.(signer).vkey() //nolint:forcetypeassert // signers makes no others
	}
	return all
}

// signers returns those whose signatures a checkpoint carries: the present key, and those that retired less than 30 days ago.
func (a *API) signers(ctx context.Context, q db.Querier, origin string) ([]note.Signer, error) {
	numbers, err := db.Column[int](ctx, q, liveKeys, PurposeLog)
	all := make([]note.Signer, len(numbers))
	for i, number := range numbers {
		all[i] = signer{origin, a.PrivateKey(PurposeLog, number)}
	}
	return all, err
}

// RotateKey retires the present key of a purpose and adds the next one, whose entry it puts into the queue. It returns the
// number of the new key. Only operators' procedures call it.
func (a *API) RotateKey(ctx context.Context, tx *db.Tx, purpose string) (int, error) {
	before, err := db.Column[int](ctx, tx.SQL, lockKey, purpose)
	if err != nil {
		return 0, err
	}
	if len(before) != 1 {
		return 0, fmt.Errorf("keylog: %d present keys for %q", len(before), purpose)
	}
	number := before[0] + 1
	if _, err := tx.SQL.ExecContext(ctx, retireKey.Text, purpose); err != nil {
		return 0, err
	}
	if _, err := tx.SQL.ExecContext(ctx, addKey.Text, purpose, number); err != nil {
		return 0, err
	}
	raw := a.keyEntry(purpose, number)
	_, err = tx.SQL.ExecContext(ctx, addQueue.Text, int(typeKey), raw[1:1+sha256.Size], raw[1+sha256.Size:])
	return number, err
}
