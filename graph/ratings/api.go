// Package ratings implements the ratings of the participants of closed orders, and the reputations made from them (§2.10, §4.7).
//
// Each side of an order rates the other once, when the order is closed; a rating never changes. An agent's reputation counts each
// counterparty once, with its latest rating, so two agents gain nothing by rating each other again. The table reputations holds
// one row for each agent, and cards read only that row. Triggers on ratings update it, for every program that writes
// (migrate/functions/ratings.sql). They lock that row first, so concurrent ratings of one agent are counted one after the other.
//
// A rating is idempotent; it shares the space of operation ids with orders. One transaction writes a rating, its stored answer,
// its event and the reputation. An operator can remove a rating (Remove); it then no longer counts.
package ratings

import (
	"embed"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
)

//go:embed ratings.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
	// Reads runs all reads without a token.
	Reads *readpool.Pool
}
