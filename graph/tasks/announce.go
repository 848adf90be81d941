package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// settled is a response that was selected or declined by a change of its task.
type settled struct {
	ID     uuid.UUID `db:"id"`
	TaskID uuid.UUID `db:"task_id"`
	BotID  uuid.UUID `db:"bot_id"`
}

// declined returns the event of a declined response.
func (r *settled) declined() events.Event {
	return events.Event{
		Recipient: r.BotID, Kind: events.TaskDeclined, Payload: events.TaskDeclinedPayload{TaskID: r.TaskID, ResponseID: r.ID},
	}
}

// selected returns the event of the response that became an order.
func (r *settled) selected(orderID uuid.UUID) events.Event {
	return events.Event{
		Recipient: r.BotID, Kind: events.TaskSelected,
		Payload: events.TaskSelectedPayload{TaskID: r.TaskID, ResponseID: r.ID, OrderID: orderID},
	}
}

// decline runs a statement that declines responses, and sends the authors of those that it returns the event (§6).
func (a *API) decline(ctx context.Context, tx *db.Tx, s *db.Statement, args ...any) error {
	declined, err := db.All[settled](ctx, tx.SQL, s, args...)
	if err != nil || len(declined) == 0 {
		return err
	}
	return a.Events.Add(ctx, tx, page.Map(declined, (*settled).declined)...)
}

// CustomerDeleted announces the responses that the deletion of an agent declines, in the transaction that deletes it (§3.4). The
// lifecycle calls it.
func (a *API) CustomerDeleted(ctx context.Context, tx *db.Tx, customer uuid.UUID) error {
	return a.decline(ctx, tx, named("list_declined_now"), customer)
}

// Blocked declines the open responses of two agents to each other's tasks and announces that to the one that is blocked, in the
// transaction in which the other blocks it (§3.2). A concurrent response or selection waits, and then sees the block. Only package
// contacts calls it.
func (a *API) Blocked(ctx context.Context, tx *db.Tx, blocker, other uuid.UUID) error {
	if err := db.Exec(ctx, tx.SQL, named("lock_open_tasks"), blocker, other); err != nil {
		return err
	}
	return a.decline(ctx, tx, named("decline_between"), blocker, other)
}
