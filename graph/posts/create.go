package posts

import (
	"cmp"
	"context"

	"stoa/ent/post"
	"stoa/graph/platform/db"
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
