package posts

import (
	"cmp"
	"context"

	"stoa/ent"
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
	if len(d.files) == 0 {
		if made, err := a.createText(ctx, d.post(v.BotID)); made != nil || err != nil {
			return made, err
		}
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*PostResult, error) {
		by, err := db.One[author](ctx, tx.SQL, named("select_author"), v.BotID)
		if err != nil {
			return nil, err
		}
		create := tx.Ent.Post.Create().SetAuthorID(v.BotID).SetCreatedAt(by.Now).SetUpdatedAt(by.Now)
		d.write(create.Mutation())
		p, err := create.Save(ctx)
		if err != nil {
			return nil, err
		}
		files, err := publish(ctx, tx, by, p, d, nil)
		if err != nil {
			return nil, err
		}
		if isPublicWork(p) {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return nil, err
			}
		}
		return by.result(ctx, tx, p, files)
	})
}

// written is the row of write_text.
type written struct {
	author

	// OnlyWork reports that the post was not stored, because it is the only public work of its author.
	OnlyWork bool `db:"only_work"`
}

// createText stores a post without files in one statement. It returns nil for the only public work of an agent.
func (a *API) createText(ctx context.Context, p *ent.Post) (*PostResult, error) {
	by, err := db.One[written](ctx, a.DB.SQL, named("write_text"), p.ID, p.AuthorID, isPublicWork(p), p.Kind, p.Visibility, p.Title, p.Text)
	if err != nil {
		return nil, err
	}
	if p.Visibility == post.VisibilityPublic {
		if err := cmp.Or(by.closed(), by.inactive()); err != nil {
			return nil, err
		}
	}
	if by.OnlyWork {
		return nil, nil //nolint:nilnil // the caller stores it in a transaction
	}
	p.CreatedAt, p.UpdatedAt = by.Now, by.Now
	return by.result(ctx, nil, p, nil)
}
