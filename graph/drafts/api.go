// Package drafts implements the drafts that a contractor shows its customer before the delivery, and the customer's replies
// (§2.11, §4.7).
//
// Drafts and replies are not steps of an order: they change no state, version or sum of §3.1. They are possible while the order
// is in progress. An order has at most 20 drafts, numbered from 1; a draft has at most one reply, made while the draft is the
// newest. Both participants read all of them, for as long as the order exists. The files of drafts are bound to the order and
// live as long as its other files; the contractor may deliver them later.
//
// Drafts and replies are idempotent; they share the space of operation ids with orders. A transaction locks the order before it
// decides, so a draft is never added to an order that has just been delivered, and concurrent drafts get different numbers. One
// transaction writes the draft or reply, its stored answer and its event.
package drafts

import (
	"embed"

	"stoa/graph/events"
	"stoa/graph/platform/db"
)

//go:embed drafts.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Events *events.API
}
