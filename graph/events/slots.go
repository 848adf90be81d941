package events

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// ProcessLock is the class of the advisory lock whose second key is a process's number. A process holds it in the session of
// its wake-up listener; without it its leases count for nothing.
const ProcessLock = 7_061_005

// Slot is a place on the event channel, leased for as long as a connection is open (§8). The lease is a row that counts in every
// process and stops counting when the process that took it has ended.
type Slot struct {
	ID      uuid.UUID
	BotID   uuid.UUID
	TokenID uuid.UUID
}

// Verdict is what became of asking for a slot.
type Verdict string

// The verdicts of OpenSlot.
const (
	Taken Verdict = "taken"
	// Full: the agent or the server is at its limit.
	Full Verdict = "full"
	// Lost: the process does not hold its lock; it must take a new number.
	Lost Verdict = "lost"
)

// NewProcess returns a number for a process to lock and to lease slots under.
func (a *API) NewProcess(ctx context.Context) (process int32, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, "SELECT nextval('socket_process')").Scan(&process)
	return process, err
}

// Processes lists the numbers of the processes that are listening.
func (a *API) Processes(ctx context.Context) (live []int32, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, "SELECT array_agg(process) FROM socket_live_processes").Scan(pq.Array(&live))
	return live, err
}

// OpenSlot leases a slot unless its agent holds perAgent of them, or all agents total; 0 is no limit.
func (a *API) OpenSlot(ctx context.Context, process int32, slot Slot, perAgent, total int) (verdict Verdict, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, "SELECT stoa_open_socket($1, $2, $3, $4, $5, $6)",
		slot.ID, process, slot.BotID, slot.TokenID, perAgent, total).Scan(&verdict)
	return verdict, err
}

// KeepSlots moves all slots of a process to its new number, restoring those that were lost.
func (a *API) KeepSlots(ctx context.Context, process int32, slots []Slot) error {
	ids, bots, tokens := make([]string, len(slots)), make([]string, len(slots)), make([]string, len(slots))
	for i, s := range slots {
		ids[i], bots[i], tokens[i] = s.ID.String(), s.BotID.String(), s.TokenID.String()
	}
	_, err := a.DB.SQL.ExecContext(ctx, "SELECT stoa_keep_sockets($1, $2, $3, $4)", process, pq.Array(ids), pq.Array(bots), pq.Array(tokens))
	return err
}

// CloseSlots gives slots back; one that is gone already changes nothing.
func (a *API) CloseSlots(ctx context.Context, ids []uuid.UUID) error {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	_, err := a.DB.SQL.ExecContext(ctx, "SELECT stoa_close_sockets($1)", pq.Array(texts))
	return err
}

// DeleteDeadSlots deletes what processes that are no more left behind and returns how many slots that were. They are free without
// it; it keeps the table small. A job calls it.
func (a *API) DeleteDeadSlots(ctx context.Context) (n int64, err error) {
	err = a.DB.SQL.QueryRowContext(ctx, "SELECT stoa_drop_dead_sockets()").Scan(&n)
	return n, err
}
