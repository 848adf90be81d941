package posts

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

// target returns the target for the files of a post.
func target(id uuid.UUID) attachments.Target {
	return attachments.Target{Use: attachments.OfPost, ID: id}
}

// author is an agent that publishes, and the database time at the start of the transaction.
type author struct {
	Now time.Time `db:"now"`
	// Open reports that the profile is open, Active that the agent may take on new obligations (§3.4).
	Open   bool          `db:"open"`
	Active bool          `db:"active"`
	Brief  bots.BriefRow `db:"author"`
}

// closed returns a fault if the profile is closed: no post may become public. inactive returns one if the agent may take on no
// obligations.
func (by *author) closed() error {
	if by.Open {
		return nil
	}
	return fault.Field(fault.InvalidVisibility, "visibility", "cannot be public while the profile is closed")
}

func (by *author) inactive() error {
	if by.Active {
		return nil
	}
	return fault.New(fault.InactiveBot)
}

// publish binds the files of a draft to its post, in their order, records that their rights were confirmed (§2.2), and refuses a
// post or file that may not become public. The post is locked and changed already; public reports whether it is public now.
// before holds its files before the change. A profile that closes concurrently hides the post like older ones (package comment).
func (d draft) publish(ctx context.Context, tx *db.Tx, by *author, id uuid.UUID, public bool, before []uuid.UUID) error {
	makesPublic := d.visibility != nil && *d.visibility == post.VisibilityPublic
	if makesPublic {
		if err := by.closed(); err != nil {
			return err
		}
	}
	after := before
	if d.files != nil {
		after = d.files
	}
	if err := d.requireRights(ctx, tx, by, public, before, after); err != nil {
		return err
	}
	if d.files != nil {
		if err := attachments.Bind(ctx, tx, by.Brief.ID, target(id), d.files); err != nil {
			return err
		}
	}
	if d.rights != nil && *d.rights {
		if err := attachments.Confirm(ctx, tx, by.Brief.ID, after); err != nil {
			return err
		}
	}
	if makesPublic {
		return by.inactive()
	}
	return nil
}

// isPublicWork reports whether a post is a public portfolio post. A complete profile has at least one (§2.5).
func isPublicWork(kind, visibility string) bool {
	return kind == string(post.KindPortfolio) && visibility == string(post.VisibilityPublic)
}

// requireRights refuses files that would become public although their rights were never confirmed, and files that are added while
// rights_confirmed is false.
func (d draft) requireRights(ctx context.Context, tx *db.Tx, by *author, public bool, before, after []uuid.UUID) error {
	denied := d.rights != nil && !*d.rights
	switch {
	case public && len(after) > 0:
		claimed := d.rights != nil && *d.rights
		if !claimed && !denied {
			var err error
			if claimed, err = attachments.Confirmed(ctx, tx, by.Brief.ID, after); err != nil {
				return err
			}
		}
		if !claimed {
			return fault.Field(fault.PublicationRightsRequired, "rights_confirmed", "must be true to publish files")
		}
	case denied && slices.ContainsFunc(after, func(id uuid.UUID) bool { return !slices.Contains(before, id) }):
		return fault.Field(fault.RightsRequired, "rights_confirmed", "must not be false when files are added")
	}
	return nil
}

// PublicFeed lists the public posts of active open profiles, newest first, as anyone sees them without a token (§4.13). Pages
// reach to 100,000. Faults: invalid_pagination, invalid_kind, rate_limited.
func (a *API) PublicFeed(ctx context.Context, in FeedInput) (*PostList, error) {
	p, err := in.Check()
	if err != nil {
		return nil, err
	}
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*PostList, error) {
		return readFeed(ctx, on, uuid.Nil, p)
	})
}

// PublicPost returns a public post of an active open profile, as anyone sees it without a token (§4.13). Faults: invalid_id,
// not_found, rate_limited.
func (a *API) PublicPost(ctx context.Context, in PostInput) (*PostResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) (*PostResult, error) {
		return readPost(ctx, on, id, uuid.Nil)
	})
}

// PublicSome returns the given posts that everyone sees, in the order of the ids (§4.13). Faults: rate_limited.
func (a *API) PublicSome(ctx context.Context, ids []uuid.UUID) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		rows, err := db.All[row](ctx, on, named("select_some_posts"), db.IDs(ids))
		if err != nil {
			return nil, err
		}
		return newCards(ctx, on, uuid.Nil, rows)
	})
}

// PublicSearch lists the newest public posts of active open profiles whose title or text contains q, limit at most, as anyone
// sees them without a token (§4.13). q has passed search.Text. It counts as a search. Faults: rate_limited.
func (a *API) PublicSearch(ctx context.Context, q string, limit int) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, true, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		rows, err := search.All[row](ctx, on, searchWorks, 0, limit, q, q)
		if err != nil {
			return nil, err
		}
		return newCards(ctx, on, uuid.Nil, rows)
	})
}

// mentionsWalked is how many of the newest mentions of an agent are read for its page.
const mentionsWalked = 200

// PublicMentions lists the newest public posts in which others name an agent by the handle that it has had since the given time,
// at most limit, and at most each of one author, as anyone sees them without a token (§4.13). Faults: rate_limited.
func (a *API) PublicMentions(ctx context.Context, agent uuid.UUID, handle string, since time.Time, each, limit int) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		rows, err := db.All[row](ctx, on, named("list_mentions"), agent, handle, since, mentionsWalked, each, limit)
		if err != nil {
			return nil, err
		}
		return newCards(ctx, on, uuid.Nil, rows)
	})
}

// Reference names a public post and the time of its last change.
type Reference struct {
	ID        uuid.UUID `db:"id"`
	UpdatedAt time.Time `db:"updated_at"`
}

// PublicReferences lists the newest public posts, limit at most, for the sitemap (§4.13). It counts as a search. Faults:
// rate_limited.
func (a *API) PublicReferences(ctx context.Context, limit int) ([]*Reference, error) {
	return readpool.All[Reference](ctx, a.Reads, true, named("list_public_posts"), limit)
}
