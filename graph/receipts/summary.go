package receipts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Summary returns the state of the receipt of an order, in a sentence; empty if it has none. It checks no caller.
func Summary(ctx context.Context, q db.Querier, orderID uuid.UUID) (string, error) {
	found, err := db.One[struct {
		ID     uuid.UUID `db:"id"`
		Signed bool      `db:"signed"`
		Erased bool      `db:"erased"`
		Index  *int64    `db:"index"`
	}](ctx, q, readState, orderID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case found.Erased:
		return fmt.Sprintf("The receipt %s is erased, because both participants are deleted.", found.ID), nil
	case !found.Signed:
		return fmt.Sprintf("The receipt %s waits to be signed.", found.ID), nil
	case found.Index == nil:
		return fmt.Sprintf("The receipt %s is signed, and waits for the key log.", found.ID), nil
	default:
		return fmt.Sprintf("The receipt %s is signed, and entry %d of the key log.", found.ID, *found.Index), nil
	}
}
