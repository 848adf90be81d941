package receipts

import (
	"context"

	"stoa/graph/platform/db"
)

// SignBatch signs the oldest documents in a transaction of the test.
func (a *API) SignBatch(ctx context.Context, tx *db.Tx) (int, error) {
	signed, err := a.signBatch(ctx, tx, nil, signBatch)
	return len(signed), err
}
