package events

import (
	"context"

	"github.com/google/uuid"
)

const waiting = `
SELECT DISTINCT l.bot_id FROM socket_leases l JOIN socket_live_processes p USING (process)
WHERE EXISTS (SELECT FROM events e WHERE e.recipient_id = l.bot_id)`

// WakeWaiting wakes every agent that is connected and has unacknowledged events, and returns how many there were. It makes up
// for wake-ups that were lost: by a process that died between its commit and its telling, or on the way.
func (a *API) WakeWaiting(ctx context.Context) (int, error) {
	rows, err := a.DB.SQL.QueryContext(ctx, waiting)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var recipients []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		recipients = append(recipients, id)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if len(recipients) > 0 {
		a.Wake(recipients)
	}
	return len(recipients), nil
}
