package attachments

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// strayTime is how old bytes without a record must be: a younger upload may be about to make its record.
	strayTime = time.Hour
	// strayBatch is how many stored objects one statement looks at.
	strayBatch = 500
)

// SweepStrays deletes stored objects that no living record speaks for, what a crash left between store and database, and returns
// how many there were. It lists the whole store, so it is for a job that comes seldom.
func (a *API) SweepStrays(ctx context.Context) (int64, error) {
	var now time.Time
	if err := a.DB.SQL.QueryRowContext(ctx, "SELECT stoa_now()").Scan(&now); err != nil {
		return 0, err
	}
	var (
		deleted int64
		old     []string
	)
	listed := a.Store.List(&blob.ListOptions{Prefix: prefix})
	for {
		object, err := listed.Next(ctx)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return deleted, err
		}
		if !end && object.ModTime.Before(now.Add(-strayTime)) {
			old = append(old, object.Key)
		}
		if end || len(old) == strayBatch {
			n, err := a.deleteStrays(ctx, old)
			deleted += n
			if end || err != nil {
				return deleted, err
			}
			old = old[:0]
		}
	}
}

const livingOf = `SELECT id FROM attachments WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL`

func (a *API) deleteStrays(ctx context.Context, keys []string) (int64, error) {
	var named []uuid.UUID
	for _, key := range keys {
		if id, err := ownerOfKey(key); err == nil {
			named = append(named, id)
		}
	}
	living, err := ids(a.DB.SQL.QueryContext(ctx, livingOf, pq.Array(texts(named))))
	if err != nil {
		return 0, err
	}
	kept := make(map[string]bool, len(keysOf(uuid.Nil))*len(living))
	for _, id := range living {
		for _, key := range keysOf(id) {
			kept[key] = true
		}
	}
	var deleted int64
	for _, key := range keys {
		if kept[key] {
			continue
		}
		if err := a.Store.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}
