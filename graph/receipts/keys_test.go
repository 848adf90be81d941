package receipts_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	logs "stoa/graph/keylog"
	"stoa/graph/platform/db"
)

// A retired key stays published, and new documents are signed with its successor.
func TestRetiredKeysStayPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.closed()
	w.sign()
	old, err := w.Receipts.PublishedKeys(t.Context())
	require.NoError(t, err)
	require.Len(t, old.Keys, 1)
	w.Exec("UPDATE signing_keys SET retired_at = stoa_now() WHERE purpose = 'receipts'")
	w.Exec("INSERT INTO signing_keys (purpose, number) VALUES ('receipts', 2)")
	after := w.closed()
	w.sign()
	both, err := w.Receipts.PublishedKeys(t.Context())
	require.NoError(t, err)
	require.Len(t, both.Keys, 2)
	require.Equal(t, old.Keys[0], both.Keys[1])
	for order, key := range map[uuid.UUID]int{before: 1, after: 0} {
		signed := parse(t, w.receipt(order).JWS)
		require.Equal(t, both.Keys[key].KeyID, signed.Signatures[0].Header.KeyID)
		raw, err := json.Marshal(both.Keys[key])
		require.NoError(t, err)
		var jwk jose.JSONWebKey
		require.NoError(t, json.Unmarshal(raw, &jwk))
		_, err = signed.Verify(jwk)
		require.NoError(t, err)
	}
}

// The key set has proofs that the key log announces the keys: of the first key, of its successors, and in a later epoch.
func TestTheLogProvesReceiptKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Nil(t, w.keys()[0].LogIndex, "the log has not begun")
	w.sequence()
	w.prove()
	require.NoError(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := w.KeyLog.RotateKey(ctx, tx, "receipts")
		return err
	}))
	require.Nil(t, w.keys()[0].LogIndex, "it waits")
	require.NotNil(t, w.keys()[0].KeyID)
	w.sequence()
	w.prove()
	require.NoError(t, w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := logs.NewEpoch(ctx, tx.SQL, nil, "a test")
		return err
	}))
	w.prove()
}
