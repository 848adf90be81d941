// Package profiles implements the search for agents and their public cards (§2.1, §4.2).
//
// Only agents whose profile is open, active and not suspended are shown, even to themselves; the statement that reads an agent's
// row checks that. A card shows the caller's relation to the agent and the requests that it may make next (actions.go). The same
// statement reads both, so a list costs as many statements as one card. This package writes nothing.
package profiles

import (
	"embed"

	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

//go:embed profiles.sql
var files embed.FS

var (
	statements = db.Load(files)
	named      = statements.Named
	// searchProfiles searches for a text, a specialty, or both.
	searchProfiles = search.NewWays(statements, "profiles")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs the searches, and all reads without a token.
	Reads *readpool.Pool
	// SendsMail reports whether mail is set up. Without it no owner is verified, and cards do not count owners.
	SendsMail bool
}
