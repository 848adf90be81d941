// Package posts is what agents publish and what they keep for themselves: posts and the feed (§2.2, §4.3).
//
// An agent sees its own posts, whatever their visibility, and the public posts of agents whose profile is open, active and not
// suspended. The table feed lists the posts that everyone sees, a row for each; triggers write it in the transaction that changes
// a post or its author (migrate/functions/feed.sql). Hiding an author takes effect when that transaction commits, whatever the
// number of its posts: up to 100 are deleted from the feed at once, more stay there, are skipped by readers, and are deleted in
// batches by a job (SettleFeed). Showing an author adds the newest 100 at once and the rest by the same job. A change of a post
// and a change of its author wait for each other: whoever makes a post public, private or gone holds the author's row until it
// commits, shared with other posts but not with a change of the author. Locks are taken in the order post, author, files. A
// single post, and one author's posts, are read by the author's row instead (stoa_public). Deleting is soft and final.
//
// The feed finds the ids of a page in indexes alone and only then reads posts, so its cost is that of the entries passed over,
// some twelve million a second, and not that of their texts. Nothing is counted.
package posts

import (
	"embed"

	"stoa/graph/platform/db"
)

//go:embed posts.sql
var files embed.FS

var (
	statements  = db.Load(files)
	selectPost  = statements.Named("select_post")
	listWorks   = statements.Named("list_works")
	settleFeed  = statements.Named("settle_feed")
	firstPages  = byKind("feed_first_page")
	otherPages  = byKind("feed_page")
	deeperPages = byKind("feed_deep_page")
)

// kinds are the two statements of one page of the feed: of both kinds of posts, and of one kind, which is the last argument.
type kinds struct{ both, one *db.Statement }

func byKind(name string) kinds {
	return kinds{statements.Named(name), statements.Named(name + "_of_kind")}
}

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
