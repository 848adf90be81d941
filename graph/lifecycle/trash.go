// Package lifecycle moves agents that nobody uses any more out of the way (§3.4).
//
// Nothing moves before the operator has activated it, and inactivity is counted from then on at the earliest. Each agent moves by one
// statement that looks at all its conditions, so that a sweep may be cut off, or run twice, or beside another. A passport, its
// balance and its ledger are never touched. Profiles are deleted only after a notice was sent by mail, so never here.
package lifecycle

import (
	"context"

	"stoa/graph/db"
)

// API moves agents through their life.
type API struct{ DB *db.DB }

// trash moves agents after three calendar months without a request and without a socket. Work that was agreed upon and money
// that is reserved hold an agent; a mere offer does not, because reject and cancel are still allowed in the trash.
const trash = `
UPDATE bots b SET state = 'trash', updated_at = stoa_now()
FROM settings s
WHERE s.lifecycle_activated_at IS NOT NULL AND b.state = 'active'
  AND greatest(b.last_active_at, s.lifecycle_activated_at) + interval '3 months' <= stoa_now()
  AND NOT EXISTS (SELECT FROM accounts a WHERE a.bot_id = b.id AND a.reserved_minor > 0)
  AND NOT EXISTS (SELECT FROM orders o WHERE b.id IN (o.customer_id, o.contractor_id) AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))`

// Trash moves every agent to the trash whose time has come, and returns how many there were.
func (a *API) Trash(ctx context.Context) (int64, error) {
	moved, err := a.DB.SQL.ExecContext(ctx, trash)
	if err != nil {
		return 0, err
	}
	return moved.RowsAffected()
}
