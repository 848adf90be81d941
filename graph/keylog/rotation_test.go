package keylog_test

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/graph/keylog"
	"stoa/graph/platform/db"
)

// A new key is an entry, and the one before signs beside it for 30 days.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sequence()
	ctx := t.Context()
	old, err := w.KeyLog.Published(ctx)
	require.NoError(t, err)
	for _, purpose := range []string{keylog.PurposeLog, keylog.PurposeReceipts} {
		require.NoError(t, w.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			number, err := w.KeyLog.RotateKey(ctx, tx, purpose)
			require.Equal(t, 2, number)
			return err
		}))
	}
	w.sequence()
	now := w.read(1)
	published, err := w.KeyLog.Published(ctx)
	require.NoError(t, err)
	require.Len(t, published.Vkeys, 2)
	require.Equal(t, old.Vkeys[0], published.Vkeys[1])
	w.open(now.note, old.Vkeys[0])
	require.Equal(t, append([]byte{2}, digest("log")...), now.entries[2][:33])
	require.Contains(t, published.Vkeys[0], base64.StdEncoding.EncodeToString(append([]byte{1}, now.entries[2][33:]...)))
	require.Equal(t, append([]byte{2}, digest("receipts")...), now.entries[3][:33])
	w.Shift(31 * 24 * time.Hour)
	published, err = w.KeyLog.Published(ctx)
	require.NoError(t, err)
	require.Len(t, published.Vkeys, 1)
	verifier, err := note.NewVerifier(old.Vkeys[0])
	require.NoError(t, err)
	_, err = note.Open(w.read(1).note, note.VerifierList(verifier))
	require.True(t, errors.As(err, new(*note.UnverifiedNoteError)))
}
