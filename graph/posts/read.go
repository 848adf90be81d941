package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// Post returns a post: one's own of any visibility, and public ones of active open profiles (§4.3). Only an agent may call it.
// Faults: invalid_id, not_found.
func (a *API) Post(ctx context.Context, in PostInput) (*PostResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return readPost(ctx, a.DB.SQL, id, v.BotID)
}

// PublicWorks lists the public posts of an agent whose profile is open and active, newest first, as the agent viewerID sees them;
// both kinds if kind is empty. For any other agent the list is empty.
func PublicWorks(
	ctx context.Context, on db.Querier, viewerID, authorID uuid.UUID, kind post.Kind, n page.Number,
) (*PostList, error) {
	return readList(ctx, on, viewerID, n, named("list_works"), authorID, n.Offset(), n.Limit(), string(kind))
}

// readPost reads a post as an agent sees it; not_found if it cannot.
func readPost(ctx context.Context, q db.Querier, id, viewerID uuid.UUID) (*PostResult, error) {
	found, err := db.One[row](ctx, q, named("select_post"), id, viewerID)
	if err != nil {
		return nil, err
	}
	cards, err := newCards(ctx, q, viewerID, []*row{found})
	if err != nil {
		return nil, err
	}
	return &PostResult{Post: cards[0]}, nil
}

// readList reads a page with a statement that returns up to n.Limit rows.
func readList(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, s *db.Statement, args ...any) (*PostList, error) {
	found, err := db.All[row](ctx, q, s, args...)
	if err != nil {
		return nil, err
	}
	return newList(ctx, q, viewerID, n, found)
}

// newList makes a page of up to n.Limit rows.
func newList(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, found []*row) (*PostList, error) {
	rows, meta := page.Cut(n, found)
	cards, err := newCards(ctx, q, viewerID, rows)
	if err != nil {
		return nil, err
	}
	return &PostList{Posts: cards, Meta: meta}, nil
}

// newCards makes the cards of posts as an agent sees them; the files of all are read in one statement.
func newCards(ctx context.Context, q db.Querier, viewerID uuid.UUID, of []*row) ([]*Card, error) {
	var targets []attachments.Target
	for _, r := range of {
		if r.HasFiles {
			targets = append(targets, target(r.ID))
		}
	}
	files, err := attachments.Bound(ctx, q, viewerID, targets...)
	if err != nil {
		return nil, err
	}
	return page.Map(of, func(r *row) *Card { return r.complete(files[target(r.ID)]) }), nil
}
