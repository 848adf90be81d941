package operator

import (
	"context"

	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// KeyPurpose says what a key of the server signs.
type KeyPurpose string

// The purposes.
const (
	LogKey      KeyPurpose = "LOG"
	ReceiptsKey KeyPurpose = "RECEIPTS"
)

// purposes are those of the key log, which has an entry for each key.
var purposes = map[KeyPurpose]string{LogKey: keylog.PurposeLog, ReceiptsKey: keylog.PurposeReceipts}

// SigningKey is a key of the server, by its number from 1.
type SigningKey struct {
	Purpose KeyPurpose
	Number  int64
}

// RotateKey replaces a key of the server by the next one, and puts its entry into the queue of the key log (§12.2). Faults: unauthorized,
// invalid_input.
func (a *API) RotateKey(ctx context.Context, purpose KeyPurpose, reason string) (*SigningKey, error) {
	wrong := fault.Fields{}
	if purposes[purpose] == "" {
		wrong["purpose"] = "must be LOG or RECEIPTS"
	}
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	details := map[string]any{"purpose": purpose}
	return audited(ctx, a, entry{rotateKey, "", reason, details}, func(ctx context.Context, tx *db.Tx) (*SigningKey, error) {
		number, err := a.Keys.RotateKey(ctx, tx, purposes[purpose])
		details["number"] = number
		return &SigningKey{purpose, int64(number)}, err
	})
}
