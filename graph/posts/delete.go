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

// DeletePost deletes a post of the caller permanently (§4.3). In the same transaction its title and text are erased, and its
// files are unbound and lose their public access. Only its author may call it. Faults: invalid_id, not_found (also for a repeat).
func (a *API) DeletePost(ctx context.Context, in PostInput) (*DeletedPost, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		removed, err := remove(ctx, tx, id, true, post.AuthorID(v.BotID))
		if err != nil || !isPublicWork(string(removed.Kind), string(removed.Visibility)) {
			return err
		}
		return a.ProfileChanged(ctx, tx, v.BotID)
	})
	if err != nil {
		return nil, err
	}
	return &DeletedPost{Deleted: true, ID: id}, nil
}

// Remove deletes a post softly for an operator, frees its files and returns it. Its title and text stay for
// operator.RemovedRetention, so that operators can account for the removal. The caller has checked the permission and calls
// API.ProfileChanged. Faults: not_found if there is no such post, or it is deleted already.
func Remove(ctx context.Context, tx *db.Tx, id uuid.UUID) (*ent.Post, error) {
	return remove(ctx, tx, id, false)
}

// remove deletes a post softly and frees its files; if erase is set, it also erases title and text. where may limit it to posts
// of one author. The post is locked first, then its author (package comment).
func remove(ctx context.Context, tx *db.Tx, id uuid.UUID, erase bool, where ...predicate.Post) (*ent.Post, error) {
	p, err := tx.Ent.Post.Query().Where(append(where, post.ID(id), post.DeletedAtIsNil())...).ForUpdate().Only(ctx)
	if err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	change := tx.Ent.Post.UpdateOne(p).SetDeletedAt(now).SetUpdatedAt(now)
	if erase {
		change.SetTitle("").SetText("")
	}
	if p, err = change.Save(ctx); err != nil {
		return nil, err
	}
	return p, attachments.Unbind(ctx, tx, target(p.ID))
}
