package posts

import (
	"context"

	"stoa/ent/post"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

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
		before, err := filesOf(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		wasWork := isPublicWork(string(p.Kind), string(p.Visibility))
		if p, err = c.write(tx.Ent.Post.UpdateOne(p)).SetUpdatedAt(by.Now).Save(ctx); err != nil {
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
