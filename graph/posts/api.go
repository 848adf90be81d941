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
// A change of a post that is public before or after it locks the author's row FOR SHARE until it commits; a change of the author
// locks that row like an UPDATE, so the two wait for each other. Locks are taken in the order post, author, files. A new public
// work locks another existing one FOR SHARE: only the first and the last work change whether the profile is complete.
//
// The feed finds the ids of a page in indexes alone and only then reads the posts. So its cost depends on the skipped index
// entries, some twelve million a second, and not on their texts. Nothing is counted.
package posts

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

//go:embed posts.sql
var files embed.FS

var (
	statements  = db.Load(files, bots.BriefText)
	named       = statements.Named
	searchWorks = search.NewWays(statements, "works")
	firstPages  = namedFeed("feed_first_page")
	otherPages  = namedFeed("feed_page")
	deepPages   = namedFeed("feed_deep_page")
)

// feedStatements read the same page of the feed: for both kinds of posts, and for one kind, which is the last argument.
type feedStatements struct{ bothKinds, oneKind *db.Statement }

func namedFeed(name string) feedStatements {
	return feedStatements{statements.Named(name), statements.Named(name + "_of_kind")}
}

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the reads without a token.
	Reads *readpool.Pool
	// ProfileChanged is called in a transaction that adds or removes public portfolio posts of an agent (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
}
