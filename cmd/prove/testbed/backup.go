package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stoa/cmd/stoa/operatorcli/client"
)

// Backup has the program make a backup, beside the servers.
func (b *Bed) Backup(ctx context.Context) error { return b.command(ctx, "backup") }

// Restore puts the last backup in the place of the database. No server may run.
func (b *Bed) Restore(ctx context.Context) error {
	const idle = 2 // as database/sql has it
	b.DB.SetMaxIdleConns(0)
	defer b.DB.SetMaxIdleConns(idle)
	return b.command(ctx, "backup", "restore", "--replace")
}

// command runs a command of the program on the servers' database and data folder.
func (b *Bed) command(ctx context.Context, arguments ...string) error {
	program, err := filepath.Abs(b.Program)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), "STOA_DATABASE_URL=postgres://stoa@"+b.Database.Address+"/stoa?sslmode=disable",
		"STOA_DATA_DIR="+b.Data())
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("stoa %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

var errDiscrepancies = errors.New("the reconciliation found discrepancies")

// Reconcile has an operator compare the ledger with itself.
func (b *Bed) Reconcile(ctx context.Context) error {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	found, err := maintain(ctx, operator, "RECONCILE")
	if err != nil {
		return err
	}
	b.acted("runMaintenance", "")
	if len(found) > 0 {
		return fmt.Errorf("%w: %v", errDiscrepancies, found)
	}
	return nil
}

// maintain runs a periodic task and returns the discrepancies that it found.
func maintain(ctx context.Context, operator *client.Client, task string) ([]any, error) {
	var done struct {
		RunMaintenance struct {
			Discrepancies []any `json:"discrepancies"`
		} `json:"runMaintenance"` //nolint:tagliatelle // as GraphQL has it
	}
	err := operator.Ask(ctx, `mutation ($task: MaintenanceTask!, $reason: String!) {
		runMaintenance(task: $task, reason: $reason) { discrepancies { check botId transactionId expected found } } }`,
		map[string]any{"task": task, "reason": reason}, &done)
	return done.RunMaintenance.Discrepancies, err
}
