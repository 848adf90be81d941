package attachments

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// CopyRetention is how long a public copy is kept that no publication uses: a request that took too long finds it when it is sent
// again, and a post that is hidden and shown again needs no new one.
const CopyRetention = 10 * time.Minute

// missingBatch is how many copies that are missing are looked for at a time.
const missingBatch = 20

var (
	idleCopies         = statements.Named("idle_copies")
	lockFile           = statements.Named("lock_file")
	droppableCopy      = statements.Named("droppable_copy")
	dropCopy           = statements.Named("drop_copy")
	overcountedFiles   = statements.Named("overcounted_files")
	recountFiles       = statements.Named("recount_files")
	deleteVainRequests = statements.Named("delete_vain_requests")
	missingCopyRows    = statements.Named("missing_copies")
)

// DropCopies deletes the public copies of files that are not published any more, gives their room back to the budgets, and returns
// how many there were. A closed profile keeps its copies, so that it can be opened at once. Only a job calls it.
func (a *API) DropCopies(ctx context.Context) (dropped int64, err error) {
	if _, err := a.DB.SQL.ExecContext(ctx, deleteVainRequests.Text, CopyRetention.Seconds()); err != nil {
		return 0, err
	}
	for n := sweepBatch; n == sweepBatch; {
		idle, err := db.Column[uuid.UUID](ctx, a.DB.SQL, idleCopies, CopyRetention.Seconds(), sweepBatch)
		if err != nil {
			return dropped, err
		}
		n = len(idle)
		for _, id := range idle {
			gone, err := a.dropCopy(ctx, id, false)
			if err != nil {
				return dropped, err
			}
			if gone {
				dropped++
			}
		}
		if err := a.recount(ctx); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// dropCopy deletes a copy that is not used or, where earlier, one of an earlier version. The file's lock keeps a publication from
// finding the copy meanwhile; the budgets are not locked while the store works, so the room is given back later (recount).
func (a *API) dropCopy(ctx context.Context, id uuid.UUID, earlier bool) (dropped bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		dropped = false
		if _, err := tx.SQL.ExecContext(ctx, lockFile.Text, id); err != nil {
			return err
		}
		found, err := db.Column[uuid.UUID](ctx, tx.SQL, droppableCopy, id, CopyRetention.Seconds(), earlier)
		if err != nil || len(found) == 0 {
			return err
		}
		if err := a.delete(ctx, publishedKey(id)); err != nil {
			return err
		}
		_, err = tx.SQL.ExecContext(ctx, dropCopy.Text, id)
		dropped = true
		return err
	})
	return dropped, err
}

// recount returns the bytes of dropped copies to the budgets.
func (a *API) recount(ctx context.Context) error {
	for n := sweepBatch; n == sweepBatch; {
		over, err := db.Column[uuid.UUID](ctx, a.DB.SQL, overcountedFiles, sweepBatch)
		if n = len(over); err != nil || n == 0 {
			return err
		}
		err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := lock(ctx, tx); err != nil {
				return err
			}
			_, err := tx.SQL.ExecContext(ctx, recountFiles.Text, db.IDs(over))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// MakeMissingCopies makes the public copies of files that an earlier version published: it made a copy when the first reader asked,
// and of every image a JPEG. It makes one after another, so that a slot stays free for uploads, until all are made or the time has
// come, and returns how many it made. Only a job calls it.
func (a *API) MakeMissingCopies(ctx context.Context, inspect Inspector, until time.Time) (made int64, err error) {
	var problems []error
	for last := uuid.Nil; ; {
		missing, err := db.Column[uuid.UUID](ctx, a.DB.SQL, missingCopyRows, last, maxPreviewSide, missingBatch)
		if err != nil || len(missing) == 0 {
			return made, errors.Join(append(problems, err)...)
		}
		for _, last = range missing {
			if !time.Now().Before(until) {
				return made, errors.Join(problems...)
			}
			if err := a.makeMissing(ctx, last, inspect); err != nil {
				problems = append(problems, err)
				continue
			}
			made++
		}
	}
}

func (a *API) makeMissing(ctx context.Context, id uuid.UUID, inspect Inspector) error {
	if dropped, err := a.dropCopy(ctx, id, true); err != nil {
		return err
	} else if dropped {
		if err := a.recount(ctx); err != nil {
			return err
		}
	}
	_, err := db.Column[uuid.UUID](ctx, a.DB.SQL, requestCopyRows, db.IDs([]uuid.UUID{id}), copyLost.Seconds(), false)
	if err != nil {
		return err
	}
	return a.Publish(ctx, id, inspect)
}
