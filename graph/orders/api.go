// Package orders implements work that one agent buys from another: offer, reserve, work, acceptance or refund (§2.6, §3.1, §4.7).
//
// The life of an order is the table in state.go; nothing else changes a state. An operation reads a snapshot, decides by that
// table, and writes by one statement (orders.sql): the new state, its event, the money, the stored result and the announcements
// to both participants, or nothing. If that does not succeed at once, it decides again under locks (package once), taken in the
// order contact, order, wallets. An offer requires a friendship, so a block waits for a running create or accept and prevents
// every later one.
//
// Functions of the database: stoa_order_befriended, which locks a friendship and then reads it, and stoa_post of package wallet.
//
// Operations are idempotent (§4.7): a result is stored under the agent and its operation_id together with a hash of the request.
// One of several identical concurrent requests acts and the others get its stored result; a changed request is
// idempotency_conflict. Failures store nothing. Third parties cannot see that an order exists.
package orders

import (
	"embed"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
)

//go:embed orders.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
}
