package messages

import "context"

// expiryBatch is how many messages one statement deletes: at 16 KiB each, a few megabytes of log.
const expiryBatch = 500

// deleteExpired passes over what another process is deleting.
const deleteExpired = `
DELETE FROM messages WHERE id IN (
  SELECT id FROM messages WHERE expires_at <= stoa_now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`

// DeleteExpired deletes every message that is past its retention, in batches that each commit, and returns how many there were
// (§8). Their ids and nonces stay taken. Only a job calls it; stopping it half-way loses nothing.
func (a *API) DeleteExpired(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteExpired, expiryBatch)
}
