package ratings

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/rating"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Remove permanently removes a rating from the list and the reputation of its subject, in the caller's transaction; the author's
// previous rating counts again. The author cannot rate the order again. It checks no caller. Faults: not_found, also if the
// rating is removed already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) (*ent.Rating, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := tx.Ent.Rating.Update().Where(rating.ID(id), rating.RemovedAtIsNil()).SetRemovedAt(now).Save(ctx)
	if err != nil {
		return nil, err
	}
	if removed == 0 {
		return nil, fault.New(fault.NotFound)
	}
	return tx.Ent.Rating.Get(ctx, id)
}
