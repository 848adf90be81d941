// Package messages is end-to-end encrypted chat between friends (§2.4, §4.5).
//
// The server stores envelopes as they are sent and can read none of them. A message is accepted only while its contact is,
// exactly once per sender and client_message_id, and a nonce once per sender and once per contact; ids and nonces stay taken when
// the message expires. Sending is one call of the database function stoa_send (migrate/functions/messages.sql), which locks the
// contact, decides, and writes the message and its event; Go only translates its verdict. The lock orders concurrent repeats,
// uses of a nonce, and blocks. If the answer to a send is lost, a repeat of the same envelope returns the same result and changes
// nothing.
package messages

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed messages.sql
var files embed.FS

var named = db.Load(files).Named

// Retention is how long a message is kept (§8).
const Retention = bounds.MessageRetention

// Version is the only accepted encryption_version (§2.4).
const Version = "box-v1"

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Wake is called with the recipient of a message that was stored. It may not block.
	Wake func(recipients []uuid.UUID)
}

// expiryBatch is how many messages one statement deletes. With 16 KiB each, that writes a few megabytes of WAL.
const expiryBatch = 500

// DeleteExpired deletes every message past its retention (§8), commits each batch, and returns the number of deleted messages.
// Their ids and nonces stay taken. Only a job calls it; it may be stopped at any time.
func (a *API) DeleteExpired(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_expired").Text, expiryBatch)
}
