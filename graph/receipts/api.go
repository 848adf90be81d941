// Package receipts makes signed documents that prove events of this server to others: a receipt of each order that closed,
// accepted or refunded, and a document of each rating (§12.5).
//
// Triggers write a row for a document in the transaction of its cause (migrate/functions/receipts.sql), and the job Sign makes
// the document. The row fixes the document's id and time, and its other content is final by then, so a repeated job makes the
// same bytes. The signed document and its entry for the key log are written in one transaction, so a document that can be read is
// never made again. Once the key log has the entry, the job Announce notifies the participants, so a receipt has its proof when
// its event arrives. Several processes may sign and announce at the same time; each takes rows that no other has locked.
//
// The documents are JSON Web Signatures over canonical JSON (RFC 7515, RFC 8785), by an Ed25519 key that is derived from the
// installation's key. Documents hold no texts, only their hashes. Both participants read an order's documents; anyone reads the
// document of a rating while the profiles of both are open. When both participants are deleted, a trigger erases the documents.
package receipts

import (
	"context"
	"embed"

	"stoa/graph/events"
	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
)

//go:embed receipts.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Reads runs reads without a token.
	Reads *readpool.Pool
	// KeyLog provides the server's keys and the proofs of entries.
	KeyLog *keylog.API
}

// PublishedKey is a JSON Web Key that verifies receipts, and the proof that the key log announces it.
type PublishedKey struct {
	keylog.JWK

	// LogIndex is the index of the key's entry in the present log, LogProof its proof (tlog-proof of C2SP). Both are null until
	// the log has the entry; the proof is also null while the log's head is not signed.
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
	indexes := make([]*int64, len(numbers))
	for i, number := range numbers {
		if indexes[i], err = a.KeyLog.KeyIndex(ctx, keylog.PurposeReceipts, number); err != nil {
			return nil, err
		}
	}
	proofs, err := a.KeyLog.Proofs(ctx, indexes...)
	if err != nil {
		return nil, err
	}
	set := &KeySet{Keys: make([]*PublishedKey, len(numbers))}
	for i, number := range numbers {
		set.Keys[i] = &PublishedKey{keylog.NewJWK(a.KeyLog.PrivateKey(keylog.PurposeReceipts, number)), indexes[i], proofs[i]}
	}
	return set, nil
}
