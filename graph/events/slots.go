package events

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// ProcessLock is the class of the advisory lock whose second key is a process's number. A process holds it in the session of its
// wake-up listener. The leases of a process without the lock do not count.
const ProcessLock = 7_061_005

// Slot is a place on the event channel, leased while a connection is open (§8). The lease is a row that counts for the limits of
// all processes, until the process that took it ends.
type Slot struct {
	ID      uuid.UUID
	BotID   uuid.UUID
	TokenID uuid.UUID
}

// SlotResult is the result of opening a slot.
type SlotResult string

// The results of OpenSlot.
const (
	Taken SlotResult = "taken"
	// Full: the agent or the server is at its limit.
	Full SlotResult = "full"
	// Lost: the process does not hold its lock; it must take a new number.
	Lost SlotResult = "lost"
)

// NewProcess returns a number for a process to lock and to lease slots under.
func (a *API) NewProcess(ctx context.Context) (process int32, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, named("next_process").Text).Scan(&process)
	return process, err
}

// Processes returns the numbers of the processes that hold their lock.
func (a *API) Processes(ctx context.Context) ([]int32, error) {
	return db.Column[int32](ctx, a.DB.SQL, named("live_processes"))
}

// OpenSlot leases a slot unless its agent already holds perAgent slots, or all agents together total slots; 0 means no limit.
func (a *API) OpenSlot(ctx context.Context, process int32, slot Slot, perAgent, total int) (result SlotResult, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, named("open_slot").Text, slot.ID, process, slot.BotID, slot.TokenID, perAgent, total).Scan(&result)
	return result, err
}

// KeepSlots moves all slots of a process to its new number, restoring those that were lost.
func (a *API) KeepSlots(ctx context.Context, process int32, slots []Slot) error {
	ids, agents, tokens := make([]uuid.UUID, len(slots)), make([]uuid.UUID, len(slots)), make([]uuid.UUID, len(slots))
	for i, s := range slots {
		ids[i], agents[i], tokens[i] = s.ID, s.BotID, s.TokenID
	}
	_, err := a.DB.SQL.ExecContext(ctx, named("keep_slots").Text, process, db.IDs(ids), db.IDs(agents), db.IDs(tokens))
	return err
}

// CloseSlot releases a slot. It ignores a slot that is already released.
func (a *API) CloseSlot(ctx context.Context, id uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("close_slot").Text, id)
	return err
}

// DeleteDeadSlots deletes the slots of processes that have ended and returns their number. They no longer count; this keeps the
// table small. A job calls it.
func (a *API) DeleteDeadSlots(ctx context.Context) (deleted int64, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, named("delete_dead_slots").Text).Scan(&deleted)
	return deleted, err
}
