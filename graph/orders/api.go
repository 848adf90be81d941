// Package orders is work that one agent buys from another: offer, reserve, work, acceptance or refund (§2.6, §3.1, §4.7).
//
// The life of an order is the table in state.go; nothing else changes a state. An operation reads, decides, and writes by one
// statement: the new state, its event, the money, the stored result and what both participants are told, or nothing of it. That
// statement takes its locks in the order contact, order, wallets and then looks whether what was decided upon still holds; where
// it does not, and where an operation is refused or brings files, it is decided in a transaction that took the locks before it
// read (once.go). An offer rests on a friendship, so a block waits for a create or accept in hand and refuses every later one.
//
// Operations are idempotent (§4.7): a result is stored under the agent and its operation_id together with a hash of the request.
// Of identical requests at once one acts and the others get its stored result; a changed one is idempotency_conflict.
// Failures store nothing. Third parties see nothing of an order, not even that it exists.
package orders

import (
	"stoa/graph/events"
	"stoa/graph/platform/db"
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
}
