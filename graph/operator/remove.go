package operator

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/posts"
)

// RemovePost deletes a post softly, as its author could (§2.2). Its record stays in the explorer, and its files, which are free
// again, stay its author's. Faults: not_found, also for a post that is deleted already.
func (a *API) RemovePost(ctx context.Context, id uuid.UUID, reason string) (*ent.Post, error) {
	if err := allow(ctx, reason, fault.Fields{}); err != nil {
		return nil, err
	}
	gone, err := audited(ctx, a, entry{removePost, id.String(), reason, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Post, error) {
		if err := posts.Remove(ctx, tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Post.Get(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return gone.Unwrap(), nil
}

// RemoveAttachment makes a file unavailable to everyone (§2.7). An order keeps it on its card; from a profile or a post it goes.
// Its record stays in the explorer. Faults: not_found, also for a file that has no bytes, or none any more.
func (a *API) RemoveAttachment(ctx context.Context, id uuid.UUID, reason string) (*ent.Attachment, error) {
	if err := allow(ctx, reason, fault.Fields{}); err != nil {
		return nil, err
	}
	gone, err := audited(ctx, a, entry{removeAttachment, id.String(), reason, nil}, func(ctx context.Context, tx *db.Tx) (*ent.Attachment, error) {
		if err := attachments.Remove(ctx, tx, id); err != nil {
			return nil, err
		}
		return tx.Ent.Attachment.Get(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return gone.Unwrap(), nil
}
