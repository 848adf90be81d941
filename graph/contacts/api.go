// Package contacts implements friendship between agents (§2.3, §3.2).
//
// Two agents have at most one contact, in either direction: a unique index on the ordered pair settles races between requests. A
// contact is never deleted, and a block never ends. Every operation on an existing contact locks its row and is decided by the
// table in state.go; its event is written in the same transaction. Other domains' transactions that rely on a friendship (a send,
// an order) lock the contact's row first, so that a block either waits for them or is seen by them.
package contacts

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed contacts.sql
var files embed.FS

var named = db.Load(files, bots.BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	Events *events.API
	// Blocked is called in the transaction in which one of two agents blocks the other. It ends their open responses.
	Blocked func(ctx context.Context, tx *db.Tx, one, other uuid.UUID) error
}
