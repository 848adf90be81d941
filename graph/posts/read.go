package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// readOne is the post $1 where the agent $2 can see it.
var readOne = `
SELECT ` + columns + ` FROM posts p JOIN bots b ON b.id = p.author_id
WHERE p.id = $1 AND p.deleted_at IS NULL AND (p.author_id = $2 OR p.visibility = 'public' AND stoa_public(b))`

// Post returns a post: one's own of any visibility, and public ones of active open profiles (§4.3). Only an agent may call it.
// Faults: invalid_id, not_found.
func (a *API) Post(ctx context.Context, in PostInput) (*PostResult, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	return one(ctx, a.DB.SQL, id, v.BotID)
}

func one(ctx context.Context, q db.Querier, id, viewerID uuid.UUID) (*PostResult, error) {
	found, err := read(ctx, q, readOne, id, viewerID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fault.New(fault.NotFound)
	}
	cards, err := newCards(ctx, q, viewerID, found)
	if err != nil {
		return nil, err
	}
	return &PostResult{Post: cards[0]}, nil
}

// works are the public posts of the agent $1, newest first, of the kind $4 unless that is empty. Each kind is read in the order of an
// index, no further than the page.
var works = `
SELECT ` + columns + ` FROM (
  SELECT id FROM (
    (SELECT id, created_at FROM posts
     WHERE author_id = $1 AND kind = 'update' AND visibility = 'public' AND deleted_at IS NULL AND $4 IN ('', 'update')
     ORDER BY created_at DESC, id DESC)
    UNION ALL
    (SELECT id, created_at FROM posts
     WHERE author_id = $1 AND kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL AND $4 IN ('', 'portfolio')
     ORDER BY created_at DESC, id DESC)
  ) kinds ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3
) page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
JOIN bots b ON b.id = $1 AND stoa_public(b)
ORDER BY p.created_at DESC, p.id DESC`

// PublicWorks lists the public posts of an agent whose profile is open and active, newest first, as the agent viewerID sees them;
// both kinds where kind is empty. There are none of any other agent.
func PublicWorks(ctx context.Context, d *db.DB, viewerID, authorID uuid.UUID, kind post.Kind, n page.Number) (*PostList, error) {
	return list(ctx, d.SQL, viewerID, n, works, authorID, n.Offset(), n.Limit(), string(kind))
}
