package posts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

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

// PublicMentions lists the newest public posts of others that name an agent by the handle that it has had since then, limit at
// most, and each of one author, as anyone sees them without a token (§4.13). Faults: rate_limited.
func (a *API) PublicMentions(ctx context.Context, agent uuid.UUID, handle string, since time.Time, each, limit int) ([]*Card, error) {
	return readpool.Read(ctx, a.Reads.Run, false, func(ctx context.Context, on db.Querier) ([]*Card, error) {
		rows, err := db.All[row](ctx, on, named("list_mentions"), agent, handle, since, mentionsWalked, each, limit)
		if err != nil {
			return nil, err
		}
		return newCards(ctx, on, uuid.Nil, rows)
	})
}

// Reference names a public post and when it was changed.
type Reference struct {
	ID        uuid.UUID `db:"id"`
	UpdatedAt time.Time `db:"updated_at"`
}

// PublicReferences lists the newest public posts, limit at most, for the sitemap (§4.13). It counts as a search. Faults:
// rate_limited.
func (a *API) PublicReferences(ctx context.Context, limit int) ([]*Reference, error) {
	return readpool.Read(ctx, a.Reads.Run, true, func(ctx context.Context, on db.Querier) ([]*Reference, error) {
		return db.All[Reference](ctx, on, named("list_public_posts"), limit)
	})
}
