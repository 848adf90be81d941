package posts

import (
	"context"
	"strconv"
	"strings"

	"stoa/graph/auth"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// deepOffset is the offset from which a page is found by counting down the index instead of reading every post passed over.
const deepOffset = 2000

// listedSQL is the feed without the rows of authors who are hidden and not cleaned up yet (migrate/sql/0027_feed_backlog.sql). The
// backlog is usually empty, and then the first condition is all that a row costs.
const listedSQL = `feed e WHERE (NOT (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.hidden))
      OR e.author_id NOT IN (SELECT l.author_id FROM feed_backlog l WHERE l.hidden))`

// visibleSQL is a page of what the agent [me] sees, after [from] posts, [limit] long. It merges two ordered index-only scans that do
// not overlap: the others' posts in the table feed, and all of one's own.
const visibleSQL = `
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT e.id, e.created_at FROM ` + listedSQL + ` AND e.author_id <> [me] [kind] [below]
     ORDER BY e.created_at DESC, e.id DESC)
    UNION ALL
    (SELECT e.id, e.created_at FROM posts e WHERE e.author_id = [me] AND e.deleted_at IS NULL [kind] [below]
     ORDER BY e.created_at DESC, e.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET [from] LIMIT [limit]
)`

// readPage reads a page's posts with their authors, each by its id.
var readPage = `
SELECT ` + columns + ` FROM page [joined]
ORDER BY page.created_at DESC, page.id DESC`

// How the posts and authors of a page are joined to it. Where the planner does not know how short a page is, OFFSET 0 keeps it from
// reading the whole tables instead; where it knows, OFFSET 0 would cost a sixth of the statement.
const (
	directJoin  = `JOIN posts p ON p.id = page.id JOIN bots b ON b.id = p.author_id`
	lateralJoin = `CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b`
)

// privateSQL are the posts of the agent $1 that the feed does not list: its private ones, all of its own while others do not see it,
// and while the backlog is still adding its posts to the feed, those that are missing there.
const privateSQL = `posts e WHERE e.author_id = $1 AND e.deleted_at IS NULL [kind]
    AND (e.visibility = 'private' OR (SELECT stoa_public(b) FROM bots b WHERE b.id = $1) IS NOT TRUE
      OR (SELECT EXISTS (SELECT FROM feed_backlog l WHERE l.author_id = $1))
        AND NOT EXISTS (SELECT FROM feed f WHERE f.created_at = e.created_at AND f.id = e.id))`

// seekSQL skips $2 posts by walking the index of the feed alone. The reader's private posts are not in that index, so it walks as many
// rows fewer and then adds the private posts that are newer than where the walk ends: seen is the number of visible posts skipped,
// never more than $2, and the page is read from there. A reader with $2 private posts starts at the top.
const seekSQL = `
missing AS MATERIALIZED (
  SELECT count(*)::integer AS n FROM ` + privateSQL + `
), start AS MATERIALIZED (
  SELECT created_at, id, $2::integer - n AS passed FROM missing, LATERAL (
    SELECT e.created_at, e.id FROM ` + listedSQL + ` [kind] ORDER BY e.created_at DESC, e.id DESC OFFSET $2::integer - n LIMIT 1
  ) newest WHERE n < $2::integer
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0 FROM missing WHERE n >= $2::integer
), seen AS MATERIALIZED (
  SELECT passed + (SELECT count(*) FROM ` + privateSQL + ` AND (e.created_at, e.id) > (SELECT created_at, id FROM start)) AS n FROM start
),`

// feeds are the six statements of the feed. The most common page has its bounds in its text: PostgreSQL plans a statement once for all
// values and would take bounds that are arguments for a tenth of the table, so it would plan anew at each call.
var feeds = func() map[shape]string {
	all := map[shape]string{}
	for filtered, kind := range map[bool]string{false: ``, true: `AND e.kind = `} {
		near := strings.NewReplacer("[me]", "$1", "[kind]", with(kind, "$4"), "[below]", "", "[from]", "$2", "[limit]", "$3", "[joined]", lateralJoin)
		deep := strings.NewReplacer("[me]", "$1", "[kind]", with(kind, "$4"), "[from]", "$2 - (SELECT n FROM seen)", "[limit]", "$3",
			"[joined]", lateralJoin, "[below]", "AND (e.created_at, e.id) <= (SELECT created_at, id FROM start)")
		all[shape{top, filtered}] = first("$1", kind)
		all[shape{middle, filtered}] = "WITH " + near.Replace(visibleSQL+readPage)
		all[shape{bottom, filtered}] = "WITH " + deep.Replace(seekSQL+visibleSQL+readPage)
	}
	return all
}()

// attachedPages are the statements of the first page attached to the authentication of the agent me.
var attachedPages = map[bool]*auth.Query{
	false: auth.NewQuery(first("me.id", ""), columnCount), true: auth.NewQuery(first("me.id", "AND e.kind = "), columnCount),
}

// first is the statement of the first page for the agent me, whose argument is the kind where there is one.
func first(me, kind string) string {
	return "WITH " + strings.NewReplacer("[me]", me, "[kind]", with(kind, "$2"), "[below]", "", "[from]", "0",
		"[limit]", strconv.Itoa(page.DefaultSize+1), "[joined]", directJoin).Replace(visibleSQL+readPage)
}

// with completes a condition by its argument, where there is one.
func with(condition, argument string) string {
	if condition == "" {
		return ""
	}
	return condition + argument
}

// shape tells the statements of the feed apart.
type shape struct {
	depth    depth
	filtered bool
}

// depth is where a page lies: the first one of the usual size, another near the top, or far down.
type depth int

const (
	top depth = iota
	middle
	bottom
)

func depthOf(n page.Number) depth {
	switch {
	case n.Offset() == 0 && n.Limit() == page.DefaultSize+1:
		return top
	case n.Offset() < deepOffset:
		return middle
	default:
		return bottom
	}
}

// Feed lists the caller's own posts and the public posts of active open profiles, newest first (§4.3). Only an agent may call it.
// Pages reach to 100,000. Faults: invalid_pagination, invalid_kind.
func (a *API) Feed(ctx context.Context, in FeedInput) (*PostList, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	n, kind, err := in.Check()
	if err != nil {
		return nil, err
	}
	if read, ok := auth.ResultFrom[*firstPage](ctx, v.BotID); ok {
		return newList(ctx, a.DB.SQL, v.BotID, n, read.rows)
	}
	depth, args := depthOf(n), []any{v.BotID}
	if depth != top {
		args = append(args, n.Offset(), n.Limit())
	}
	if kind != "" {
		args = append(args, string(kind))
	}
	return list(ctx, a.DB.SQL, v.BotID, n, feeds[shape{depth, kind != ""}], args...)
}

// firstPage is the first page of the feed, read along with the admission of its reader.
type firstPage struct{ rows []*row }

// Next implements auth.RowSink.
func (p *firstPage) Next(to []any) {
	r := new(row)
	p.rows = append(p.rows, r)
	copy(to, r.targets())
}

// PiggybackFeed attaches the first page to the authentication of whoever is about to call Feed with the same input.
func (a *API) PiggybackFeed(ctx context.Context, in FeedInput) context.Context {
	n, kind, err := in.Check()
	switch {
	case err != nil || depthOf(n) != top:
		return ctx
	case kind != "":
		return auth.Attach(ctx, attachedPages[true], new(firstPage), string(kind))
	default:
		return auth.Attach(ctx, attachedPages[false], new(firstPage))
	}
}
