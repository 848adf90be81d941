package posts

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/post"
	"stoa/ent/predicate"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// CreatePost publishes a post, or stores it as private (§4.3). Only an agent may call it; it has no idempotency id. Faults in
// this order: the faults of CreatePostInput.Check; rights_required, invalid_visibility (a public post while the profile is
// closed), publication_rights_required, invalid_attachment, attachment_already_bound and inactive_bot (a public post of an agent
// that is not active).
func (a *API) CreatePost(ctx context.Context, in CreatePostInput) (*PostResult, error) {
	v, d, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	made := d.row()
	public, work := made.Visibility == string(post.VisibilityPublic), isPublicWork(made.Kind, made.Visibility)
	if len(d.files) == 0 {
		by, err := made.store(ctx, a.DB.SQL, v.BotID, work)
		if err == nil && public {
			err = cmp.Or(by.closed(), by.inactive())
		}
		if err != nil {
			return nil, err
		}
		if !by.OnlyWork {
			return &PostResult{Post: made.complete(nil)}, nil
		}
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*PostResult, error) {
		by, err := made.store(ctx, tx.SQL, v.BotID, false)
		if err != nil {
			return nil, err
		}
		if err := d.publish(ctx, tx, &by.author, made.ID, public, nil); err != nil {
			return nil, err
		}
		if work {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return nil, err
			}
		}
		return readPost(ctx, tx.SQL, made.ID, v.BotID)
	})
}

// UpdatePost changes a post of the caller (§4.3); attachment_ids replace the whole list. Only its author may call it. Faults in
// this order: the faults of UpdatePostInput.Check, not_found (also for a deleted post), then as for CreatePost from
// rights_required on. The profile must be open and the agent active only if the request asks for a public post.
func (a *API) UpdatePost(ctx context.Context, in UpdatePostInput) (*PostResult, error) {
	v, c, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*PostResult, error) {
		p, err := tx.Ent.Post.Query().Where(post.ID(c.id), post.AuthorID(v.BotID), post.DeletedAtIsNil()).ForUpdate().Only(ctx)
		if err != nil {
			return nil, err
		}
		by, err := db.One[author](ctx, tx.SQL, named("select_author"), v.BotID)
		if err != nil {
			return nil, err
		}
		bound, err := attachments.Bound(ctx, tx.SQL, v.BotID, target(p.ID))
		if err != nil {
			return nil, err
		}
		before := page.Map(bound[target(p.ID)], func(c *attachments.Card) uuid.UUID { return c.ID })
		wasWork := isPublicWork(string(p.Kind), string(p.Visibility))
		p, err = tx.Ent.Post.UpdateOne(p).SetNillableText(c.text).SetNillableTitle(c.title).SetNillableKind(c.kind).
			SetNillableVisibility(c.visibility).SetUpdatedAt(by.Now).Save(ctx)
		if err != nil {
			return nil, err
		}
		if err := c.publish(ctx, tx, by, p.ID, p.Visibility == post.VisibilityPublic, before); err != nil {
			return nil, err
		}
		if wasWork != isPublicWork(string(p.Kind), string(p.Visibility)) {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return nil, err
			}
		}
		return readPost(ctx, tx.SQL, p.ID, v.BotID)
	})
}

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
