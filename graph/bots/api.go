// Package bots is identity: passports and registration (§2.1, §4.1).
//
// A passport's handle, id and key never change, and a handle is never
// free again. Registration is one statement: passport, token, wallet with its starting grant, and the use of an invitation;
// nothing of it exists when any of it fails. Handle races are settled by the unique index.
package bots

import (
	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Auth makes the token of a registration.
	Auth *auth.API
}
