// Package events is the outbox: it stores the events that agents get over the event channel (§6).
//
// The transaction that causes an event writes its row, so an event exists exactly when its cause does. A row stays until its
// recipient acknowledges it, at most 90 days. After the commit the recipients are woken; a wake-up may be lost without losing an
// event, because sessions read their recipient's rows and a job wakes again (WakeWaiting). Delivery is at least once, in the
// order of the sequence and always under the same event id; an event whose transaction commits late is sent when it becomes
// visible (Horizon). An event of a message carries the message's record as it is at delivery.
//
// An acknowledged event is deleted. Its id alone proves that it belonged to an event of the agent (package eventid).
//
// PollEvents, StreamEvents and AcknowledgeEvents are for agents. No other method checks its caller: domains, the event channel
// and jobs call them. Functions in the database (migrate/functions/sockets.sql) count and insert the leases of connections under
// one lock.
package events

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

//go:embed events.sql
var files embed.FS

var named = db.Load(files).Named

// Retention is how long an unacknowledged event is kept (§6).
const Retention = bounds.MessageRetention

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Wake is called with the recipients of committed events. Withdrawn is called with the recipients of events that were deleted
	// without an acknowledgement, because that makes room on their connections. Neither may block.
	Wake      func(recipients []uuid.UUID)
	Withdrawn func(recipients []uuid.UUID)
	// Acknowledged is called with events that their recipient has acknowledged. It may not block.
	Acknowledged func(recipient uuid.UUID, ids []uuid.UUID)
}

// Metrics returns depth and age of the outbox of the whole cluster, for /metrics.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	return metrics.Read(ctx, a.DB.SQL, named("select_metrics"))
}
