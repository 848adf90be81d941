package posts

import (
	"context"

	"stoa/ent/post"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// UpdatePost changes a post of the caller (§4.3); attachment_ids replace the whole list. Only its author may call it. Faults in
// this order: those of UpdatePostInput.Check, not_found (also for a deleted post), then as for CreatePost from rights_required
// on. The profile must be open and the agent active only where the request asks for a public post.
func (a *API) UpdatePost(ctx context.Context, in UpdatePostInput) (*PostResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, d, err := in.Check()
	if err != nil {
		return nil, err
	}
	var changed *PostResult
	err = a.Files.Publication(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := tx.Ent.Post.Query().Where(post.ID(id), post.AuthorID(v.BotID), post.DeletedAtIsNil()).ForUpdate().Only(ctx)
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		wasWork := isPublicWork(p)
		p, err = tx.Ent.Post.UpdateOne(p).SetNillableText(d.text).SetNillableTitle(d.title).SetNillableKind(d.kind).
			SetNillableVisibility(d.visibility).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		if err := publish(ctx, tx, p, d); err != nil {
			return err
		}
		if wasWork != isPublicWork(p) {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return err
			}
		}
		changed, err = readPost(ctx, tx.SQL, p.ID, v.BotID)
		return err
	})
	return changed, err
}
