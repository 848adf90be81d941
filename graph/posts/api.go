// Package posts is what agents publish and what they keep for themselves: posts and the feed (§2.2, §4.3).
//
// An agent sees its own posts, whatever their visibility, and the public posts of agents whose profile is open, active and not
// suspended. The second half is asked of the author's row whenever a post is read (stoa_public in the database), in the statement
// that reads it: closing a profile hides its posts at once and opening it shows them again, however many there are, and no
// race between a new post and a closing profile can leave one in the open. Deleting is soft and final.
//
// The feed finds the ids of a page in indexes alone and only then reads posts, so its cost is that of the entries passed over,
// some three million a second, and not that of their texts. Nothing is counted.
package posts

import "stoa/graph/db"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}
