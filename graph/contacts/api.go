// Package contacts is friendship: the one relation that two agents can have (§2.3, §3.2).
//
// A pair of agents has at most one contact, whoever asked first; the unique index on the ordered pair settles races between
// requests. Everything after that is decided under the lock of the contact's row, by the table in state.go, and told in the
// same transaction. A contact is never deleted and a block never ends. Whoever relies on a friendship locks the contact first
// (Between), so that a block waits for what it would have refused, and refuses all that comes after it.
package contacts

import (
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	Events *events.API
}
