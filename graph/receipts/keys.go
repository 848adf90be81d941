package receipts

import (
	"context"
	"crypto/ed25519"

	"github.com/go-jose/go-jose/v4"

	"stoa/graph/keylog"
	"stoa/graph/platform/db"
)

// newJWS returns a signer of documents of a type, with the key and the id under which it is published.
func newJWS(key ed25519.PrivateKey, kind string) (jose.Signer, error) {
	jwk := jose.JSONWebKey{Key: key, KeyID: keylog.NewJWK(key).KeyID}
	return jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jwk}, new(jose.SignerOptions).WithType(jose.ContentType(kind)))
}

// PublishedKey is a JSON Web Key that verifies receipts, and the proof that the key log announces it.
type PublishedKey struct {
	keylog.JWK

	// LogIndex is the index of the key's entry in the present log, LogProof its proof (tlog-proof of C2SP). Both are null until the
	// log has the entry; the proof is also null while the log's head is not signed.
	LogIndex *int64  `json:"log_index"`
	LogProof *string `json:"log_proof"`
}

// KeySet is a JSON Web Key Set.
type KeySet struct {
	Keys []*PublishedKey `json:"keys"`
}

// PublishedKeys returns the keys that verify receipts, the newest first, with the proofs of their entries in the key log. They
// include retired keys. Anyone may call it.
func (a *API) PublishedKeys(ctx context.Context) (*KeySet, error) {
	numbers, err := db.Column[int](ctx, a.DB.SQL, named("select_signing_keys"), keylog.PurposeReceipts)
	if err != nil {
		return nil, err
	}
	set, indexes := &KeySet{Keys: make([]*PublishedKey, len(numbers))}, make([]int64, 0, len(numbers))
	for i, number := range numbers {
		made := &PublishedKey{JWK: keylog.NewJWK(a.KeyLog.PrivateKey(keylog.PurposeReceipts, number))}
		if made.LogIndex, err = a.KeyLog.KeyIndex(ctx, keylog.PurposeReceipts, number); err != nil {
			return nil, err
		}
		if made.LogIndex != nil {
			indexes = append(indexes, *made.LogIndex)
		}
		set.Keys[i] = made
	}
	proofs, err := a.KeyLog.Proofs(ctx, indexes)
	if err != nil {
		return nil, err
	}
	for _, key := range set.Keys {
		if key.LogIndex == nil {
			continue
		}
		if proof, made := proofs[*key.LogIndex]; made {
			key.LogProof = &proof
		}
	}
	return set, nil
}
