package posts

import (
	"context"
	"strconv"
	"strings"

	"stoa/graph/page"
	"stoa/graph/viewer"
)

// far is the number of posts passed over from which a page is found by counting.
const far = 2000

// shown is a page of what $1 can see, from a post number on, so many posts. Two ordered scans of indexes alone are merged: the public
// posts of others, without those of hidden agents, who are looked up in a small index of them alone, and all of one's own; the
// two do not overlap. Only the page's posts and authors are then read, each by its id: OFFSET 0 keeps the planner, which does not
// know how short a page is, from reading the whole tables instead.
const shown = `
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT p.id, p.created_at FROM posts p
     WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND p.author_id <> $1 [kind] [below]
       AND (SELECT true FROM bots h WHERE h.id = p.author_id AND NOT stoa_public(h)) IS NULL
     ORDER BY p.created_at DESC, p.id DESC)
    UNION ALL
    (SELECT p.id, p.created_at FROM posts p WHERE p.author_id = $1 AND p.deleted_at IS NULL [kind] [below]
     ORDER BY p.created_at DESC, p.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET [from] LIMIT [limit]
)
SELECT ` + columns + ` FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC`

// counted passes over $2 posts without asking of each whether it is visible, which costs more than reading it. It passes over as
// many public posts less the reader's private ones, which the list of public posts does not hold; then of what is newer than
// where that ends it takes away the hidden agents' posts and adds the reader's private ones: seen is how many visible posts were
// passed over, never more than $2, and the page is looked for from there. A reader with $2 private posts starts at the top.
const counted = `
private AS MATERIALIZED (
  SELECT count(*)::integer AS n FROM posts p WHERE p.author_id = $1 AND p.deleted_at IS NULL AND p.visibility = 'private' [kind]
), start AS MATERIALIZED (
  SELECT created_at, id, $2::integer - n AS passed FROM private, LATERAL (
    SELECT p.created_at, p.id FROM posts p WHERE p.visibility = 'public' AND p.deleted_at IS NULL [kind]
    ORDER BY p.created_at DESC, p.id DESC OFFSET $2::integer - n LIMIT 1
  ) newest WHERE n < $2::integer
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0 FROM private WHERE n >= $2::integer
), seen AS MATERIALIZED (
  SELECT passed - (
    SELECT count(*) FROM bots h JOIN posts p ON p.author_id = h.id
    WHERE NOT stoa_public(h) AND h.id <> $1 AND p.visibility = 'public' AND p.deleted_at IS NULL [kind] [above]
  ) + (
    SELECT count(*) FROM posts p WHERE p.author_id = $1 AND p.visibility = 'private' AND p.deleted_at IS NULL [kind] [above]
  ) AS n FROM start
),`

// feeds are the six statements of the feed. The page that most ask for has its bounds in its text: bounds that are arguments
// PostgreSQL takes for a tenth of the table when it plans once for all values, so that it would rather plan at each call.
var feeds = func() map[shape]string {
	all := map[shape]string{}
	for filtered, kind := range map[bool]string{false: ``, true: `AND p.kind = `} {
		first := strings.NewReplacer("[kind]", with(kind, "$2"), "[below]", "", "[from]", "0", "[limit]", strconv.Itoa(page.DefaultSize+1))
		near := strings.NewReplacer("[kind]", with(kind, "$4"), "[below]", "", "[from]", "$2", "[limit]", "$3")
		deep := strings.NewReplacer("[kind]", with(kind, "$4"), "[from]", "$2 - (SELECT n FROM seen)", "[limit]", "$3",
			"[above]", "AND (p.created_at, p.id) > (SELECT created_at, id FROM start)",
			"[below]", "AND (p.created_at, p.id) <= (SELECT created_at, id FROM start)")
		all[shape{top, filtered}] = "WITH " + first.Replace(shown)
		all[shape{middle, filtered}] = "WITH " + near.Replace(shown)
		all[shape{bottom, filtered}] = "WITH " + deep.Replace(counted+shown)
	}
	return all
}()

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
	case n.Offset() < far:
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
	depth, args := depthOf(n), []any{v.BotID}
	if depth != top {
		args = append(args, n.Offset(), n.Limit())
	}
	if kind != "" {
		args = append(args, string(kind))
	}
	return list(ctx, a.DB.SQL, v.BotID, n, feeds[shape{depth, kind != ""}], args...)
}
