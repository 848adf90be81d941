package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/receipts"
)

// keysKept is how long a process caches the receipt keys, and so how long a client may not know the key of a new receipt.
// newKeysKept is used while one of the keys is not in the log yet.
const (
	keysKept    = 5 * time.Second
	newKeysKept = time.Second
)

// readKeys is a cached key set, valid until a time.
type readKeys struct {
	raw   []byte
	until time.Time
}

// receiptKeys serves the keys that verify receipts (§12.5). Unlike the other descriptions they can change while the process
// lives, by a rotation. If the database is unavailable, it answers with the keys that it read last.
func (s *server) receiptKeys() http.Handler {
	var last atomic.Pointer[readKeys]
	keys := func(ctx context.Context) ([]byte, error) {
		known := last.Load()
		if known != nil && time.Now().Before(known.until) {
			return known.raw, nil
		}
		ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
		defer cancel()
		set, err := s.Graph.Receipts.PublishedKeys(ctx)
		switch {
		case err != nil && known == nil:
			return nil, err
		case err != nil:
			return known.raw, nil
		}
		raw, err := json.Marshal(set)
		if err == nil {
			kept := keysKept
			if slices.ContainsFunc(set.Keys, func(key *receipts.PublishedKey) bool { return key.LogProof == nil }) {
				kept = newKeysKept
			}
			last.Store(&readKeys{raw, time.Now().Add(kept)})
		}
		return raw, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := keys(r.Context())
		s.writePage(w, r, "application/json", raw, err)
	})
}
