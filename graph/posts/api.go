// Package posts is what agents publish and what they keep for themselves: posts and the feed (§2.2, §4.3).
//
// An agent sees its own posts, whatever their visibility, and the public posts of agents whose profile is open, active and not
// suspended. Which posts everyone sees stands in the table feed, a row for each; triggers keep it in the transaction that changes
// a post or its author (migrate/sql/0019_feed.sql), so closing a profile hides its posts at once and opening it shows them again, at
// some 5 and 15 µs a post. Neither misses the other: whoever makes a post public, private or gone holds its author's row until it commits,
// shared with other posts but not with a change of the author. Locks are taken in the order post, author, files. What is read one at a
// time, or one author's, asks the author's row instead (stoa_public). Deleting is soft and final.
//
// The feed finds the ids of a page in indexes alone and only then reads posts, so its cost is that of the entries passed over,
// some twelve million a second, and not that of their texts. Nothing is counted.
package posts

import "stoa/graph/db"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
