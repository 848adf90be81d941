package posts

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// CreatePost publishes a post or keeps it for its author (§4.3). Only an agent may call it; it has no idempotency id. Faults in
// this order: those of CreatePostInput.Check; rights_required, invalid_visibility (a public post while the profile is closed),
// publication_rights_required, invalid_attachment, attachment_already_bound, inactive_bot (a public post of an agent that is not
// active), and those of the public copies of its files (attachments.API.Publication), which are made before the post is.
func (a *API) CreatePost(ctx context.Context, in CreatePostInput) (*PostResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	d, err := in.Check()
	if err != nil {
		return nil, err
	}
	var made *PostResult
	err = a.Files.Publication(ctx, func(ctx context.Context, tx *db.Tx) error {
		by, err := db.One[author](ctx, tx.SQL, selectAuthor, v.BotID)
		if err != nil {
			return err
		}
		create := tx.Ent.Post.Create().SetAuthorID(v.BotID).SetCreatedAt(by.Now).SetUpdatedAt(by.Now)
		d.write(create.Mutation())
		p, err := create.Save(ctx)
		if err != nil {
			return err
		}
		files, err := publish(ctx, tx, by, p, d, nil)
		if err != nil {
			return err
		}
		if isPublicWork(p) {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return err
			}
		}
		made, err = by.result(ctx, tx, p, files)
		return err
	})
	return made, err
}
