package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
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
		removed, err := Remove(ctx, tx, id, post.AuthorID(v.BotID))
		if err != nil || !isPublicWork(removed) {
			return err
		}
		return a.ProfileChanged(ctx, tx, v.BotID)
	})
	if err != nil {
		return nil, err
	}
	return &DeletedPost{Deleted: true, ID: id}, nil
}

// Remove deletes a post softly, frees its files and returns it. The caller has decided who may do so; where may limit it to posts
// of one author. The caller also tells that the author's profile changed (API.ProfileChanged). not_found where there is no such
// post, or it is deleted already. The post is locked first, and its author with it (package comment).
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID, where ...predicate.Post) (*ent.Post, error) {
	p, err := tx.Ent.Post.Query().Where(append(where, post.ID(id), post.DeletedAtIsNil())...).ForUpdate().Only(ctx)
	if err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	if p, err = tx.Ent.Post.UpdateOne(p).SetDeletedAt(now).SetUpdatedAt(now).Save(ctx); err != nil {
		return nil, err
	}
	return p, attachments.Unbind(ctx, tx, target(p.ID))
}
