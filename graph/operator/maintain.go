package operator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/bot"
	"stoa/graph/keylog"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

// Maintenance is the result of a task.
type Maintenance struct {
	Task          MaintenanceTask
	Swept         []*Swept
	Discrepancies []wallet.Discrepancy
	// Trashed, Notified and Deleted count agents, Granted rewards.
	Trashed, Notified, Deleted, Granted int64
	Backup                              *Backup
}

// tasks maps each task to its function.
var tasks = map[MaintenanceTask]func(context.Context, *API, *Maintenance) error{
	MaintenanceTaskCleanup: func(ctx context.Context, a *API, m *Maintenance) error {
		for _, r := range a.Kept {
			if r.Sweep == nil {
				continue
			}
			n, err := r.Sweep(ctx)
			m.Swept = append(m.Swept, &Swept{r.Name, n})
			if err != nil {
				return err
			}
		}
		return nil
	},
	MaintenanceTaskReconcile: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Discrepancies, err = a.Ledger.Reconcile(ctx)
		return err
	},
	MaintenanceTaskLifecycle: func(ctx context.Context, a *API, m *Maintenance) error {
		done, err := a.Lifecycle.Run(ctx)
		m.Trashed, m.Notified, m.Deleted = done.Trashed, done.Notified, done.Deleted
		return err
	},
	MaintenanceTaskRewards: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Granted, err = a.Ledger.GrantRewards(ctx)
		return err
	},
	MaintenanceTaskBackup: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Backup, err = a.BackUp(ctx)
		return err
	},
}

// Tasks lists the tasks, sorted.
func Tasks() []MaintenanceTask { return slices.Sorted(maps.Keys(tasks)) }

// RunMaintenance runs a task while the caller waits, possibly for minutes. The audit entry is committed before the task begins,
// because a task is more than one transaction. Faults: invalid_input.
func (a *API) RunMaintenance(ctx context.Context, task MaintenanceTask, reason string) (*Maintenance, error) {
	wrong := fault.Fields{}
	run, known := tasks[task]
	if !known {
		wrong.Add("task", errors.New("must be one of the tasks"))
	}
	e := entry{runMaintenance, "", reason, map[string]any{"task": task}, wrong, nil}
	if err := a.recordEntry(ctx, e); err != nil {
		return nil, err
	}
	done := &Maintenance{Task: task}
	if err := run(db.Patient(ctx), a, done); err != nil {
		return nil, err
	}
	return done, nil
}

// Forever is the retention of records that are never deleted.
const Forever time.Duration = -1

// BackupRetention is the time for which a backup is kept; the last good backup stays.
const BackupRetention = 7 * 24 * time.Hour

// Retention states how long a kind of record is kept (§8).
type Retention struct {
	Name string
	// What names the kind of record and the start of its retention.
	What string
	// Kept is the retention: 0 until the job's next run, Forever if unlimited.
	Kept time.Duration
	// Job is the kind of the periodic job that deletes the records; empty if none does.
	Job string
	// Sweep is run by the job cleanup and the task CLEANUP. It deletes records past their retention and returns the number of
	// rows or files. It can be stopped at any time. It is nil if the sweep of another row or another job does its work.
	Sweep func(context.Context) (int64, error)
}

// Days returns the retention in days, nil if unlimited.
func (r *Retention) Days() *float64 {
	if r.Kept == Forever {
		return nil
	}
	days := r.Kept.Hours() / 24
	return &days
}

// Retention lists the kinds of records and how long each is kept.
func (a *API) Retention(ctx context.Context) ([]*Retention, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	all := make([]*Retention, len(a.Kept))
	for i := range a.Kept {
		all[i] = &a.Kept[i]
	}
	return all, nil
}

// purposes maps key purposes to their names in the key log, which has an entry for each key.
var purposes = map[KeyPurpose]string{KeyPurposeLog: keylog.PurposeLog, KeyPurposeReceipts: keylog.PurposeReceipts}

// RotateKey replaces a key of the server by the next one and queues its entry for the key log (§12.2). Faults: unauthorized,
// invalid_input.
func (a *API) RotateKey(ctx context.Context, purpose KeyPurpose, reason string) (*SigningKey, error) {
	wrong := fault.Fields{}
	if purposes[purpose] == "" {
		wrong["purpose"] = "must be LOG or RECEIPTS"
	}
	details := map[string]any{"purpose": purpose}
	return audited(ctx, a, entry{rotateKey, "", reason, details, wrong, nil}, func(ctx context.Context, tx procedureTx) (*SigningKey, error) {
		number, err := a.Keys.RotateKey(ctx, tx.Tx, purposes[purpose])
		details["number"] = number
		return &SigningKey{Purpose: purpose, Number: number}, err
	})
}

// removeDemo is no mutation: only the operators' command on the server's machine calls it.
var removeDemo = Procedure{Name: "removeDemo"}

// Population counts the agents that are not deleted.
type Population struct{ Demo, Others int }

// Population returns the number of agents. Faults: unauthorized.
func (a *API) Population(ctx context.Context) (p Population, err error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return p, err
	}
	living := a.DB.Ent.Bot.Query().Where(bot.StateNEQ(bot.StateDeleted))
	if p.Demo, err = living.Clone().Where(bot.IsDemo(true)).Count(ctx); err != nil {
		return p, err
	}
	p.Others, err = living.Where(bot.IsDemo(false)).Count(ctx)
	return p, err
}

// DemoRemoval is the result of RemoveDemo.
type DemoRemoval struct {
	// Deleted counts deleted agents, Files the files whose bytes were deleted.
	Deleted, Files int64
	// Held are the agents that stay, hidden, until their orders with others have ended.
	Held []lifecycle.Held
}

// RemoveDemo deletes the agents of the demo (lifecycle.DeleteDemo) and the bytes of their files. The audit entry is committed
// first and stays if the removal fails. Faults: unauthorized.
func (a *API) RemoveDemo(ctx context.Context, reason string) (done DemoRemoval, err error) {
	if err := a.recordEntry(ctx, entry{procedure: removeDemo, reason: reason}); err != nil {
		return done, err
	}
	if done.Deleted, done.Held, err = a.Lifecycle.DeleteDemo(ctx); err != nil {
		return done, err
	}
	done.Files, err = a.Files.Sweep(ctx)
	return done, err
}

// silence is the time without a report after which a process is considered dead.
const silence = time.Minute

// RecordProcess renews the report of a process. A process must call it more often than once a minute.
func (a *API) RecordProcess(ctx context.Context, p Process) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("record_process").Text, p.ID, p.Name, p.Version, pq.StringArray(p.Roles), pq.StringArray(p.Failing),
		p.DiskFreeBytes, p.DiskTotalBytes)
	return err
}

// ForgetProcess removes a process that ends.
func (a *API) ForgetProcess(ctx context.Context, id uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("delete_process").Text, id)
	return err
}
