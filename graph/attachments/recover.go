package attachments

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// recoverAfter is how long an inspection may have been asked for and not run, although a slot is free, before it is asked for
// again.
const recoverAfter = 5 * time.Second

var (
	uploadsPending = statements.Named("uploads_pending")
	requeueUploads = statements.Named("requeue_uploads")
)

// Recover finishes work that a crash cut off: it asks again for inspections that no process works on, and
// returns how many there were; and it deletes the bytes and reservations of uploads whose process has died. Called every few
// seconds, it does so within a minute of the crash (§11). Only a job calls it.
func (a *API) Recover(ctx context.Context) (n int, err error) {
	failed := a.releaseExpired(ctx)
	pending, err := db.Column[bool](ctx, a.DB.SQL, uploadsPending) // the lock of the budgets is a write
	if err != nil || !pending[0] {
		return 0, errors.Join(failed, err)
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		if err := lock(ctx, tx); err != nil {
			return err
		}
		free, err := a.freeSlots(ctx, tx, uuid.Nil)
		if err != nil || free == 0 {
			return err
		}
		lost, err := db.Column[uuid.UUID](ctx, tx.SQL, requeueUploads, recoverAfter.Seconds(), free)
		if err != nil {
			return err
		}
		n = len(lost)
		for _, id := range lost {
			if err := a.Enqueue(ctx, tx, InspectJob{AttachmentID: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, errors.Join(failed, err)
}
