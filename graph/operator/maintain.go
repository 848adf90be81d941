package operator

import (
	"context"
	"maps"
	"slices"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// Task names work that periodic jobs do and an operator may ask for at once.
type Task string

// The tasks.
const (
	// Backup makes a backup.
	Backup Task = "BACKUP"
	// Cleanup deletes records past their retention.
	Cleanup Task = "CLEANUP"
	// Lifecycle moves inactive agents to the trash, notifies their owners, and deletes those whose month is over.
	Lifecycle Task = "LIFECYCLE"
	// Reconcile checks the ledger's invariants and changes nothing.
	Reconcile Task = "RECONCILE"
	// Rewards grants the rewards that agents have earned.
	Rewards Task = "REWARDS"
)

// Swept is the result of a sweep.
type Swept struct {
	Name    string
	Deleted int64
}

// Maintenance is the result of a task.
type Maintenance struct {
	Task          Task
	Swept         []Swept
	Discrepancies []wallet.Discrepancy
	// Trashed, Notified and Deleted count agents, Granted rewards.
	Trashed, Notified, Deleted, Granted int64
	Backup                              *Copy
}

// Copy is a complete backup of the database and of the files.
type Copy struct {
	// Name is that of its folder, made of the time at which it was begun.
	Name string
	// Files counts those of the file store; SizeBytes is all of it, shared with earlier backups or not.
	Files, SizeBytes int64
}

// tasks maps each task to its function.
var tasks = map[Task]func(context.Context, *API, *Maintenance) error{
	Cleanup: func(ctx context.Context, a *API, m *Maintenance) error {
		for _, r := range a.Kept {
			if r.Sweep == nil {
				continue
			}
			n, err := r.Sweep(ctx)
			m.Swept = append(m.Swept, Swept{r.Name, n})
			if err != nil {
				return err
			}
		}
		return nil
	},
	Reconcile: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Discrepancies, err = a.Ledger.Reconcile(ctx)
		return err
	},
	Lifecycle: func(ctx context.Context, a *API, m *Maintenance) error {
		done, err := a.Lifecycle.Run(ctx)
		m.Trashed, m.Notified, m.Deleted = done.Trashed, done.Notified, done.Deleted
		return err
	},
	Rewards: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Granted, err = a.Ledger.GrantRewards(ctx)
		return err
	},
	Backup: func(ctx context.Context, a *API, m *Maintenance) (err error) {
		m.Backup, err = a.BackUp(ctx)
		return err
	},
}

// Tasks lists the tasks, sorted.
func Tasks() []Task { return slices.Sorted(maps.Keys(tasks)) }

// RunMaintenance does a task while the caller waits, which may be minutes. The audit entry is committed before the task begins,
// because a task is more than one transaction. Faults: invalid_input.
func (a *API) RunMaintenance(ctx context.Context, task Task, reason string) (*Maintenance, error) {
	wrong := fault.Fields{}
	run, known := tasks[task]
	if !known {
		wrong.Add("task", errTask)
	}
	if err := authorize(ctx, reason, wrong); err != nil {
		return nil, err
	}
	e := entry{runMaintenance, "", reason, map[string]any{"task": task}}
	done, err := audited(ctx, a, e, func(context.Context, *db.Tx) (*Maintenance, error) {
		return &Maintenance{Task: task}, nil
	})
	if err != nil {
		return nil, err
	}
	if err := run(db.WithStatementTimeout(ctx, db.MaintenanceTimeout), a, done); err != nil {
		return nil, err
	}
	return done, nil
}
