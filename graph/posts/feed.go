package posts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

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
var FirstPageAlong = auth.NewAlong(firstPages.bothKinds, func() *firstPage { return new(firstPage) })

// firstPage takes the rows of the first page, each from the row into which all are scanned.
type firstPage struct {
	found   []*row
	scanned row
}

func (p *firstPage) Columns() []any { return p.scanned.columns() }

func (p *firstPage) Next() { p.found = append(p.found, new(p.scanned)) }

// readFeed reads a page of the feed as an agent sees it, or, for uuid.Nil, as everyone sees it.
func readFeed(ctx context.Context, on db.Querier, caller uuid.UUID, p feedPage) (*PostList, error) {
	pages, args := otherPages, []any{caller}
	switch {
	case isFirst(p.Number):
		pages = firstPages
	case p.Offset() >= deepOffset:
		pages = deepPages
		fallthrough
	default:
		args = append(args, p.Offset(), p.Limit())
	}
	if p.kind == "" {
		return readList(ctx, on, caller, p.Number, pages.bothKinds, args...)
	}
	return readList(ctx, on, caller, p.Number, pages.oneKind, append(args, string(p.kind))...)
}

// isFirst reports whether n is the first page of the usual size, the most frequent request.
func isFirst(n page.Number) bool { return n.Offset() == 0 && n.Limit() == page.DefaultSize+1 }

const (
	// settleBatch is how many posts one statement adds to the feed or deletes there, while it holds the author's row.
	settleBatch = 2000
	// settleTime is the maximum duration of one run; the next run continues where it stopped.
	settleTime = 20 * time.Second
)

// SettleFeed updates the table feed for the authors in the backlog: they were hidden or shown, and have more posts than that
// statement rewrites. It works in batches that each commit and returns their number. After 20 s it leaves the rest to the next
// run. Stopping it half-way loses nothing. Only a job calls it.
func (a *API) SettleFeed(ctx context.Context) (batches int64, err error) {
	for end := time.Now().Add(settleTime); time.Now().Before(end); batches++ {
		authors, err := db.Column[int](ctx, a.DB.SQL, named("settle_feed"), settleBatch)
		if err != nil || authors[0] == 0 {
			return batches, err
		}
	}
	return batches, nil
}
