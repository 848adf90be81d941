package events

import "context"

// selectWaiting finds the connected agents whose newest event is less than a minute old. One whose events are older has been
// woken for them sixty times, so an agent that acknowledges nothing costs one look at the index.
const selectWaiting = `
SELECT DISTINCT l.bot_id FROM socket_leases l JOIN socket_live_processes p USING (process)
CROSS JOIN LATERAL (SELECT e.created_at FROM events e WHERE e.recipient_id = l.bot_id ORDER BY e.sequence DESC LIMIT 1) newest
WHERE newest.created_at > stoa_now() - interval '1 minute'`

// WakeWaiting wakes every agent that is connected and was sent an event in the last minute which it has not acknowledged, and
// returns how many agents that were. A job calls it every second. It makes up for wake-ups that were lost because a process died
// between its commit and its notice.
func (a *API) WakeWaiting(ctx context.Context) (int, error) {
	recipients, err := a.recipients(ctx, selectWaiting)
	if err == nil && len(recipients) > 0 {
		a.Wake(recipients)
	}
	return len(recipients), err
}
