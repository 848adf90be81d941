// Package posts implements the public and private posts of agents, and the feed (§2.2, §4.3).
//
// An agent sees its own public and private posts, and the public posts of agents whose profile is open, active and not suspended
// (stoa_public). Deleting is soft and final.
//
// The table feed has a row for each post that everyone sees. Triggers write it in the transaction that changes a post or its
// author (stoa_feed_post, stoa_feed_author in migrate/functions/feed.sql). Hiding an author takes effect when that transaction
// commits, whatever the number of its posts: up to 100 are deleted from the feed at once; if there are more, readers skip them,
// and a job deletes them in batches (SettleFeed, stoa_feed_settle). Showing an author adds the newest 100 at once, and the job
// adds the rest.
//
// A new post, and a change of a post that is public before or after it, locks the author's row FOR SHARE until it commits; a
// change of the author locks that row like an UPDATE, so the two wait for each other. Locks are taken in the order post, author,
// files. A new public work then locks another existing one FOR SHARE: only the first and the last work change whether the profile
// is complete.
//
// The feed first finds the ids of a page in indexes, then reads only these posts. So a deep page costs the skipped index entries,
// some twelve million a second, and not their texts. Nothing is counted.
package posts

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
	"stoa/graph/platform/viewer"
)

//go:embed posts.sql
var files embed.FS

var (
	statements  = db.Load(files, bots.BriefText)
	named       = statements.Named
	searchWorks = search.NewWays(statements, "works")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the reads without a token.
	Reads *readpool.Pool
	// ProfileChanged is called in a transaction that adds or removes public portfolio posts of an agent (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
}

// Post returns a post of the caller, or a public post of an active open profile (§4.3). Only an agent may call it. Faults:
// invalid_id, not_found.
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

// deepOffset is the offset from which a page is found by walking the index of the feed instead of reading every skipped post.
const deepOffset = 2000

// Feed lists the caller's own posts and the public posts of active open profiles, newest first (§4.3). Only an agent may call it.
// Pages reach to 100,000. Faults: invalid_pagination, invalid_kind.
func (a *API) Feed(ctx context.Context, in FeedInput) (*PostList, error) {
	v, p, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	if read, ok := v.Along.(*firstPage); ok && isFirst(p.Number) && p.kind == "" {
		return newList(ctx, a.DB.SQL, v.BotID, p.Number, read.found)
	}
	return readFeed(ctx, a.DB.SQL, v.BotID, p)
}

// FirstPageAlong reads the first page of the feed in the round trip that authenticates its caller.
var FirstPageAlong = auth.NewAlong(named("feed_first_page"), func() *firstPage { return new(firstPage) })

// firstPage collects the rows of the first page; each row is read into scanned first.
type firstPage struct {
	found   []*row
	scanned row
}

func (p *firstPage) Columns() []any { return p.scanned.columns() }

func (p *firstPage) Next() { p.found = append(p.found, new(p.scanned)) }

// readFeed reads a page of the feed as an agent sees it, or, for uuid.Nil, as everyone sees it.
func readFeed(ctx context.Context, on db.Querier, caller uuid.UUID, p feedPage) (*PostList, error) {
	name, args := "feed_page", []any{caller, p.Offset(), p.Limit()}
	switch {
	case isFirst(p.Number):
		name, args = "feed_first_page", args[:1]
	case p.Offset() >= deepOffset:
		name = "feed_deep_page"
	}
	if p.kind != "" {
		name, args = name+"_of_kind", append(args, string(p.kind))
	}
	return readList(ctx, on, caller, p.Number, named(name), args...)
}

// isFirst reports whether n is the first page of the usual size, the most frequent request.
func isFirst(n page.Number) bool { return n.Offset() == 0 && n.Limit() == page.DefaultSize+1 }

const (
	// settleBatch is how many posts one statement adds to the feed or deletes there, while it holds the author's row.
	settleBatch = 2000
	// settleTime is the maximum duration of one run; the next run continues where it stopped.
	settleTime = 20 * time.Second
)

// SettleFeed updates the table feed for the authors in the backlog: they were hidden or shown, and have more posts than the
// trigger rewrites. It works in batches that each commit and returns their number. After 20 s it leaves the rest to the next run.
// Stopping it half-way loses nothing. Only a job calls it.
func (a *API) SettleFeed(ctx context.Context) (batches int64, err error) {
	for end := time.Now().Add(settleTime); time.Now().Before(end); batches++ {
		authors, err := db.Column[int](ctx, a.DB.SQL, named("settle_feed"), settleBatch)
		if err != nil || authors[0] == 0 {
			return batches, err
		}
	}
	return batches, nil
}
