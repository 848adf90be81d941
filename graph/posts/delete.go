package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/ent/predicate"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// DeletePost deletes a post of the caller for good (§4.3). In the same transaction its files become free and lose their public
// access. Only its author may call it. Faults: invalid_id, not_found (also for a repeat).
func (a *API) DeletePost(ctx context.Context, in PostInput) (*DeletedPost, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		return Remove(ctx, tx, id, post.AuthorID(v.BotID))
	})
	if err != nil {
		return nil, err
	}
	return &DeletedPost{Deleted: true, ID: id}, nil
}

// Remove deletes a post softly and frees its files. The caller has decided who may do so; where may limit it to posts of one
// author. not_found where there is no such post, or it is deleted already. The post is locked first, and its author with it
// (package comment).
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Post) error {
	p, err := tx.Ent.Post.Query().Where(append(where, post.ID(id), post.DeletedAtIsNil())...).ForUpdate().Only(ctx)
	if err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if err := tx.Ent.Post.UpdateOne(p).SetDeletedAt(now).SetUpdatedAt(now).Exec(ctx); err != nil {
		return err
	}
	return attachments.Unbind(ctx, tx, target(p.ID))
}
