// Package messages is personal chat: end-to-end encrypted envelopes between friends (§2.4, §4.5).
//
// The server stores envelopes as they come and can read none of them. A message is accepted only while its contact is, and
// exactly once per sender and client_message_id; a nonce is accepted once per sender and once per contact. The guards of both
// outlive the message, which is kept 90 days. Message, guard and announcement are written by one statement (see SendMessage), which
// also settles races: between repeats, between uses of a nonce, and with a block. When its answer is lost, repeating the same
// envelope tells what became of it and changes nothing.
package messages

import (
	"time"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// Retention is how long a message is kept (§8).
const Retention = 90 * 24 * time.Hour

// Version is the only accepted encryption_version (§2.4).
const Version = "box-v1"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	Events *events.API
}
