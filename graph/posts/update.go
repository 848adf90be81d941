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
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := tx.Ent.Post.Query().Where(post.ID(id), post.AuthorID(v.BotID), post.DeletedAtIsNil()).ForUpdate().Only(ctx)
		if err != nil {
			return err
		}
		by, err := db.One[author](ctx, tx.SQL, selectAuthor, v.BotID)
		if err != nil {
			return err
		}
		before, err := filesOf(ctx, tx, p)
		if err != nil {
			return err
		}
		wasWork := isPublicWork(p)
		update := tx.Ent.Post.UpdateOne(p).SetUpdatedAt(by.Now)
		d.write(update.Mutation())
		p, err = update.Save(ctx)
		if err != nil {
			return err
		}
		if _, err := publish(ctx, tx, by, p, d, before); err != nil {
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
