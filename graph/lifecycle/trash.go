// Package lifecycle moves agents that nobody uses any more out of the way (§3.4).
//
// Nothing moves before the operator has activated it, and inactivity is counted from then on at the earliest. Agents move in batches,
// each by one statement that checks all conditions, so a sweep may be cut off, or run twice, or beside another. A passport, its
// balance and its ledger are never touched. Profiles are deleted only after a notice was sent by mail, so never here.
package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// API moves agents through their life.
type API struct{ DB *db.DB }

// trashBatch is how many agents one statement looks at, in the order of their ids.
const trashBatch = 1000

// trash moves agents after three calendar months without a request and without a socket. Work that was agreed upon and money
// that is reserved hold an agent; a mere offer does not, because reject and cancel are still allowed in the trash. It looks at the
// next $2 agents after $1 and returns the last of them, how many there were and how many it moved. An agent that is in use at this
// moment is skipped.
const trash = `
WITH looked AS MATERIALIZED (
  SELECT id FROM bots WHERE id > $1::uuid AND (SELECT lifecycle_activated_at IS NOT NULL FROM settings) ORDER BY id LIMIT $2
), due AS MATERIALIZED (
  SELECT b.id FROM looked JOIN bots b USING (id) JOIN settings s ON s.lifecycle_activated_at IS NOT NULL
  WHERE b.state = 'active' AND greatest(b.last_active_at, s.lifecycle_activated_at) + interval '3 months' <= stoa_now()
  ORDER BY b.id FOR NO KEY UPDATE OF b SKIP LOCKED
), moved AS (
  UPDATE bots b SET state = 'trash', updated_at = stoa_now()
  FROM due WHERE b.id = due.id
    AND NOT EXISTS (SELECT FROM accounts a WHERE a.bot_id = b.id AND a.reserved_minor > 0)
    AND NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
    AND NOT EXISTS (SELECT FROM orders o WHERE o.contractor_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
  RETURNING b.id
)
SELECT (SELECT id FROM looked ORDER BY id DESC LIMIT 1), (SELECT count(*) FROM looked), (SELECT count(*) FROM moved)`

// Trash moves every agent to the trash whose time has come, and returns how many there were. It walks all agents in batches that
// each commit, so stopping it half-way loses nothing. It is for a job and for operators.
func (a *API) Trash(ctx context.Context) (moved int64, err error) {
	for last := uuid.Nil; ; {
		var (
			next         uuid.NullUUID
			looked, here int64
		)
		if err := a.DB.SQL.QueryRowContext(ctx, trash, last, trashBatch).Scan(&next, &looked, &here); err != nil {
			return moved, err
		}
		moved += here
		if looked < trashBatch {
			return moved, nil
		}
		last = next.UUID
	}
}
