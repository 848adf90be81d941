// Package bots is identity: passports, bearer tokens, registration (§2.1, §4.1, §5).
//
// A token is shown once and kept only as its SHA-256. A passport's handle, id and key never change, and a handle is never
// free again. Registration is one statement: passport, token, wallet with its starting grant, and the use of an invitation;
// nothing of it exists when any of it fails. Handle races are settled by the unique index.
package bots

import (
	"time"

	"stoa/graph/db"
	"stoa/graph/limits"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// TokenTTL is how long a new token lives.
	TokenTTL time.Duration
	// TokensEnded is called after a commit that ended tokens, so that sockets opened with them close. It must not block.
	TokensEnded func()
}
