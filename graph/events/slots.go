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
func (a *API) NewProcess(ctx context.Context) (int32, error) {
	return db.Value[int32](ctx, a.DB.SQL, named("next_process"))
}

// Processes returns the numbers of the processes that hold their lock.
func (a *API) Processes(ctx context.Context) ([]int32, error) {
	return db.Column[int32](ctx, a.DB.SQL, named("live_processes"))
}

// OpenSlot leases a slot unless its agent already holds perAgent slots, or all agents together total slots; 0 means no limit.
func (a *API) OpenSlot(ctx context.Context, process int32, slot Slot, perAgent, total int) (SlotResult, error) {
	return db.Value[SlotResult](ctx, a.DB.SQL, named("open_slot"), slot.ID, process, slot.BotID, slot.TokenID, perAgent, total)
}

// KeepSlots moves all slots of a process to its new number, restoring those that were lost.
func (a *API) KeepSlots(ctx context.Context, process int32, slots []Slot) error {
	ids, agents, tokens := make([]uuid.UUID, len(slots)), make([]uuid.UUID, len(slots)), make([]uuid.UUID, len(slots))
	for i, s := range slots {
		ids[i], agents[i], tokens[i] = s.ID, s.BotID, s.TokenID
	}
	return db.Exec(ctx, a.DB.SQL, named("keep_slots"), process, db.IDs(ids), db.IDs(agents), db.IDs(tokens))
}

// CloseSlot releases a slot. It ignores a slot that is already released.
func (a *API) CloseSlot(ctx context.Context, id uuid.UUID) error {
	return db.Exec(ctx, a.DB.SQL, named("close_slot"), id)
}

// DeleteDeadSlots deletes the slots of processes that have ended and returns their number. They no longer count; this keeps the
// table small. A job calls it.
func (a *API) DeleteDeadSlots(ctx context.Context) (int64, error) {
	return db.Value[int64](ctx, a.DB.SQL, named("delete_dead_slots"))
}

// Horizon holds the sequence up to which reading is safe. Sequences are drawn before their transactions commit, so an event may
// become visible after an event with a larger sequence. Every transaction that drew a sequence up to Settled has ended: a
// statement that begins now sees every event up to Settled that will ever be visible.
//
// This rests on three facts: the sequence has no cache, so no session has drawn more than its last value; a transaction has its
// number before it draws, since it writes the event's cause first (Add makes sure of it); and a snapshot's xmin is larger than a
// transaction's number only if the transaction has ended.
type Horizon struct {
	Settled int64
	// drawn was the last sequence when the transaction number mark was given out; 0 if no mark is awaited.
	drawn, mark int64
}

// drawn is the row of select_drawn.
type drawn struct {
	// Drawn is the last sequence, Oldest the oldest transaction that has not ended.
	Drawn  int64 `db:"drawn"`
	Oldest int64 `db:"oldest"`
}

// Advance returns the current horizon. If it is called once a second, the horizon lags by about a second, or by the longest
// writing transaction. While no events are written, a call costs one short statement and no transaction number.
func (a *API) Advance(ctx context.Context, h Horizon) (Horizon, error) {
	now, err := db.One[drawn](ctx, a.DB.SQL, named("select_drawn"))
	if err != nil {
		return h, err
	}
	if h.drawn > 0 && now.Oldest > h.mark {
		h = Horizon{Settled: h.drawn}
	}
	if h.drawn > 0 || now.Drawn <= h.Settled {
		return h, nil
	}
	mark, err := db.Value[int64](ctx, a.DB.SQL, named("select_mark"))
	if err != nil {
		return h, err
	}
	h.drawn, h.mark = now.Drawn, mark
	return h, nil
}
