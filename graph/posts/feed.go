package posts

import (
	"context"
	"strings"

	"stoa/graph/viewer"
)

// The two ways to leave out the posts p of hidden agents. Both ask a small index of hidden agents only. Near the top of the feed
// each post is looked up in it; far down it is read once and kept as a hash, a fifth of the cost a post. Where it is too large
// for that, PostgreSQL looks up each post there, too.
const (
	lookedUp = `(SELECT true FROM bots h WHERE h.id = p.author_id AND NOT stoa_public(h)) IS NULL`
	hashed   = `(EXISTS (SELECT FROM bots h WHERE h.id = p.author_id AND NOT stoa_public(h))) IS NOT TRUE`
	// far is the number of posts passed over from which the hash pays.
	far = 2000
)

// feed is a page of what $1 can see, from the post number $2 on, $3 posts. Two ordered scans of indexes alone are merged: the
// public posts of others and all of one's own, which do not overlap. Only the page's posts and authors are then read, each by
// its id: OFFSET 0 keeps the planner, which does not know how short a page is, from reading the whole tables instead.
const feed = `
WITH page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT p.id, p.created_at FROM posts p
     WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND p.author_id <> $1 AND [seen] [kind]
     ORDER BY p.created_at DESC, p.id DESC)
    UNION ALL
    (SELECT p.id, p.created_at FROM posts p WHERE p.author_id = $1 AND p.deleted_at IS NULL [kind]
     ORDER BY p.created_at DESC, p.id DESC)
  ) visible ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3
)
SELECT ` + columns + ` FROM page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC`

// feeds are the four statements of the feed.
var feeds = func() map[shape]string {
	all := map[shape]string{}
	for deep, seen := range map[bool]string{false: lookedUp, true: hashed} {
		for filtered, kind := range map[bool]string{false: ``, true: `AND p.kind = $4`} {
			all[shape{deep, filtered}] = strings.NewReplacer("[seen]", seen, "[kind]", kind).Replace(feed)
		}
	}
	return all
}()

// shape tells the statements of the feed apart.
type shape struct{ deep, filtered bool }

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
	args := []any{v.BotID, n.Offset(), n.Limit()}
	if kind != "" {
		args = append(args, string(kind))
	}
	return list(ctx, a.DB.SQL, v.BotID, n, feeds[shape{deep: n.Offset() >= far, filtered: kind != ""}], args...)
}
