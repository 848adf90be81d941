package operator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/services"
)

// RemovePost soft-deletes a post, as its author could (§2.2). Its record stays in the explorer. Its files become free and stay
// with the author. Faults: not_found, also for a post that is deleted already.
func (a *API) RemovePost(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Post, error) {
	return audited(ctx, a, entry{removePost, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx *db.Tx) (*ent.Post, error) {
		removed, err := posts.Remove(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return removed, a.ProfileChanged(ctx, tx, removed.AuthorID)
	})
}

// RemoveTask takes a task off the public board permanently (§4.9). An open task is closed, and its responses are declined. An
// order made from it continues. The records of the task and its responses stay in the explorer. Faults: not_found, also for a
// task that is removed already.
func (a *API) RemoveTask(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Task, error) {
	return audited(ctx, a, entry{removeTask, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx *db.Tx) (*ent.Task, error) {
		if err := a.RemoveFromBoard(ctx, tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Task.Get(ctx, id)
	})
}

// RemoveService soft-deletes a service, as its agent could (§4.9). Its record stays in the explorer. Faults: not_found, also for
// a service that is deleted already.
func (a *API) RemoveService(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Service, error) {
	e := entry{removeService, id.String(), reason, nil, nil, message}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Service, error) {
		if err := services.Remove(ctx, tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Service.Get(ctx, id)
	})
}

// RemoveRating takes a rating out of the list and the reputation of its subject (§2.10); the author's previous rating counts
// again. Its record stays in the explorer. Faults: not_found, also for a rating that is removed already.
func (a *API) RemoveRating(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Rating, error) {
	return audited(ctx, a, entry{removeRating, id.String(), reason, nil, nil, message}, func(ctx context.Context, tx *db.Tx) (*ent.Rating, error) {
		return ratings.Remove(ctx, tx, id)
	})
}

// RemoveAttachment makes a file unavailable to everyone (§2.7). An order keeps it on its card; a profile or a post loses it. Its
// record stays in the explorer. Faults: not_found, also for a file without bytes or whose bytes are deleted.
func (a *API) RemoveAttachment(ctx context.Context, id uuid.UUID, message *string, reason string) (*ent.Attachment, error) {
	e := entry{removeAttachment, id.String(), reason, nil, nil, message}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Attachment, error) {
		if err := attachments.Remove(ctx, tx, id); err != nil {
			return nil, err
		}
		removed, err := tx.Ent.Attachment.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return removed, a.ProfileChanged(ctx, tx, removed.OwnerID)
	})
}

// RemovedRetention is how long the texts are kept of posts, services and tasks that an operator removed (§8).
const RemovedRetention = 30 * 24 * time.Hour

// eraseBatch is how many rows one statement erases.
const eraseBatch = 500

// eraseStatements erase the texts of deleted posts and services and of removed tasks.
var eraseStatements = []*db.Statement{
	named("erase_posts"), named("erase_services"), named("erase_tasks"),
}

// EraseRemoved erases the texts of records that operators removed longer than RemovedRetention ago, and of records that agents
// deleted on an older server that kept the texts. It works in batches and returns the number of changed records. Only a job calls
// it.
func (a *API) EraseRemoved(ctx context.Context) (erased int64, err error) {
	for _, s := range eraseStatements {
		n, failed := a.DB.ExecBatches(ctx, s.Text, eraseBatch, RemovedRetention.Seconds())
		erased += n
		err = errors.Join(err, failed)
	}
	return erased, err
}
