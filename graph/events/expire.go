package events

import (
	"context"

	"github.com/google/uuid"
)

// expiryBatch is how many events one statement looks at. It is written into the statements: a plan made without knowing it would
// read whole tables.
const (
	expiryBatch = 2000
	expiryLimit = "2000"
)

// deleteExpired deletes what is past its retention, passing over what another process is deleting.
const deleteExpired = `
DELETE FROM events WHERE id IN (
  SELECT id FROM events WHERE created_at <= stoa_now() - make_interval(secs => $1)
  ORDER BY created_at LIMIT ` + expiryLimit + ` FOR UPDATE SKIP LOCKED)`

// deleteSuppressed walks the events by id and deletes announcements of messages that have expired or whose contact is no longer
// accepted. It returns the last id that it looked at.
const deleteSuppressed = `
WITH looked AS (
  SELECT id, message_id FROM events WHERE id > $1::uuid ORDER BY id LIMIT ` + expiryLimit + `
), gone AS (
  DELETE FROM events e USING looked l WHERE e.id = l.id AND l.message_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM messages m JOIN contacts c ON c.id = m.contact_id
    WHERE m.id = l.message_id AND m.expires_at > stoa_now() AND c.state = 'accepted')
  RETURNING e.id
)
SELECT (SELECT id FROM looked ORDER BY id DESC LIMIT 1), (SELECT count(*) FROM looked), (SELECT count(*) FROM gone)`

// DeleteStale deletes every event that will never be delivered: past its retention of 90 days, or announcing a message that has
// expired or whose contact is blocked (§3.2). It works in batches that each commit and returns how many events there were. A job calls it;
// stopping it half-way loses nothing.
func (a *API) DeleteStale(ctx context.Context) (int64, error) {
	expired, err := a.deleteExpired(ctx)
	if err != nil {
		return expired, err
	}
	suppressed, err := a.deleteSuppressed(ctx)
	return expired + suppressed, err
}

func (a *API) deleteExpired(ctx context.Context) (deleted int64, err error) {
	for {
		result, err := a.DB.SQL.ExecContext(ctx, deleteExpired, Retention.Seconds())
		if err != nil {
			return deleted, err
		}
		n, err := result.RowsAffected()
		deleted += n
		if err != nil || n < expiryBatch {
			return deleted, err
		}
	}
}

func (a *API) deleteSuppressed(ctx context.Context) (deleted int64, err error) {
	for last := uuid.Nil; ; {
		var (
			next         uuid.NullUUID
			looked, gone int64
		)
		if err := a.DB.SQL.QueryRowContext(ctx, deleteSuppressed, last).Scan(&next, &looked, &gone); err != nil {
			return deleted, err
		}
		deleted += gone
		if looked < expiryBatch {
			return deleted, nil
		}
		last = next.UUID
	}
}
