package attachments

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// How long unneeded bytes are kept (§8).
const (
	UnattachedRetention = 24 * time.Hour
	UnboundRetention    = 30 * 24 * time.Hour
	// OrphanRetention is the minimum age of bytes without a record: a newer upload may still make its record.
	OrphanRetention = time.Hour
)

const (
	// sweepBatch is how many records one statement reads, orphanBatch how many stored objects.
	sweepBatch  = 100
	orphanBatch = 500
)

// Remove makes a file unavailable to everyone, inside a transaction of an operator's procedure; Sweep deletes its bytes. It
// returns not_found if the file has no bytes.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	n, err := db.Changed(ctx, tx.SQL, named("remove_file"), id)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound)
	}
	return err
}

// Sweep deletes the bytes of files that are no longer needed and frees their budgets; the records stay. It returns the number of
// these files. It deletes bytes before it frees the budget, so the next sweep finishes one that stopped or failed half-way. Only
// a job calls it.
func (a *API) Sweep(ctx context.Context) (int64, error) {
	if _, err := a.DB.ExecBatches(ctx, named("end_files"), sweepBatch, UnattachedRetention.Seconds(), UnboundRetention.Seconds()); err != nil {
		return 0, err
	}
	var done int64
	for n := int64(sweepBatch); n == sweepBatch; done += n {
		var err error
		if n, err = a.free(ctx); err != nil {
			return done, err
		}
	}
	return done, nil
}

// free deletes the bytes of a batch of files and frees their budgets.
func (a *API) free(ctx context.Context) (int64, error) {
	ended, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("ended_files"), sweepBatch)
	if err != nil || len(ended) == 0 {
		return 0, err
	}
	for _, id := range ended {
		if err := a.deleteObjects(ctx, id); err != nil {
			return 0, err
		}
	}
	err = a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		return db.Exec(ctx, tx.SQL, named("free_budget"), db.IDs(ended))
	})
	if err != nil {
		return 0, err
	}
	return int64(len(ended)), nil
}

// DeleteOrphans deletes stored objects that belong to no file with bytes, such as after a crash, and returns their number. It
// lists the whole store, so its job runs rarely.
func (a *API) DeleteOrphans(ctx context.Context) (int64, error) {
	now, err := db.Value[time.Time](ctx, a.DB.SQL, db.Now)
	if err != nil {
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
		if !end && object.ModTime.Before(now.Add(-OrphanRetention)) {
			old = append(old, object.Key)
		}
		if end || len(old) == orphanBatch {
			n, err := a.deleteOrphans(ctx, old)
			deleted += n
			if end || err != nil {
				return deleted, err
			}
			old = old[:0]
		}
	}
}

func (a *API) deleteOrphans(ctx context.Context, keys []string) (int64, error) {
	var ids []uuid.UUID
	for _, key := range keys {
		name, _, _ := strings.Cut(path.Base(key), ".") // of unfinished objects, too
		if id, err := uuid.Parse(name); err == nil {
			ids = append(ids, id)
		}
	}
	live, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("live_files"), db.IDs(ids))
	if err != nil {
		return 0, err
	}
	kept := make(map[string]bool)
	for _, id := range live {
		for _, key := range keysOf(id) {
			kept[key] = true
		}
	}
	var deleted int64
	for _, key := range keys {
		if kept[key] {
			continue
		}
		if err := a.Store.Delete(ctx, key); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}
