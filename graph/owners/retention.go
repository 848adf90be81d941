package owners

import (
	"context"
	"time"
)

// How long challenges and restores are kept from their creation, used or not: as long as they count towards the limits of an address
// and their results can be asked for again.
const (
	ChallengeRetention = 25 * time.Hour
	RestoreRetention   = 48 * time.Hour
)

// deleteBatch is how many rows one statement deletes.
const deleteBatch = 1000

var (
	deleteOldChallenges = statements.Named("delete_old_challenges")
	deleteOldRestores   = statements.Named("delete_old_restores")
)

// DeleteOldChallenges deletes the challenges that are past ChallengeRetention and returns how many. A job calls it.
func (a *API) DeleteOldChallenges(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteOldChallenges.Text, deleteBatch, ChallengeRetention.Seconds())
}

// DeleteOldRestores deletes the requests to restore that are past RestoreRetention and returns how many. A job calls it.
func (a *API) DeleteOldRestores(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteOldRestores.Text, deleteBatch, RestoreRetention.Seconds())
}
