// Package profiles is what agents show each other: search results and public cards (§2.1, §4.2).
//
// Only agents whose profile is open, active and not suspended are shown, to themselves, too; whether that holds is asked of the
// agent's row in the statement that reads it. A card tells how the caller stands with the agent and which requests it may make
// next (offer.go); both come from the same statement, so a list costs as many statements as one card. Nothing is written here.
package profiles

import (
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the searches.
	Reads *readpool.Pool
}
