package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// cosign takes the head of the key log to the witnesses that have not signed it. Those that do not sign are no failure of the job.
func cosign(ctx context.Context, c Config) error {
	refused, err := c.Graph.KeyLog.Cosign(ctx)
	if refused != nil {
		c.Logger.WarnContext(ctx, "witnesses did not sign the key log", "error", refused)
	}
	return err
}

// analyzeGrown analyzes tables that have grown by half. A prepared statement keeps the plan of an empty table until the table is
// analyzed, and autovacuum does that once a minute at most. Until then a database that fills quickly would use such plans.
func analyzeGrown(ctx context.Context, c Config) error {
	ctx = db.Patient(ctx)
	grown, err := db.Column[string](ctx, c.DB.SQL, named("grown_tables"))
	if err != nil || len(grown) == 0 {
		return err
	}
	_, err = c.DB.SQL.ExecContext(ctx, "ANALYZE (SKIP_LOCKED) "+strings.Join(grown, ", "))
	return err
}

// cleanUp deletes records past their retention. One sweep that fails does not keep the others from running.
func cleanUp(ctx context.Context, c Config) error {
	var failed []error
	for _, r := range c.Graph.Operator.Kept {
		if r.Sweep == nil {
			continue
		}
		n, err := r.Sweep(ctx)
		if n > 0 {
			c.Logger.InfoContext(ctx, "cleaned up", "sweep", r.Name, "deleted", n)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return errors.Join(failed...)
}

// maxReconcile is after how long ledgerReport leaves the rest to its next run; its slices last a second or so.
const maxReconcile = 20 * time.Minute

// ledgerReport checks the ledger: new entries at each run, and all entries once a day, in slices that any process may continue.
// A discrepancy is a defect or a break-in: it is logged as an error, each time anew, and kept for /metrics of every process.
func ledgerReport(ctx context.Context, c Config) error {
	end := time.Now().Add(maxReconcile)
	for _, scope := range wallet.Scopes() {
		for over := false; !over && time.Now().Before(end); {
			var (
				found []wallet.Discrepancy
				err   error
			)
			if found, over, err = c.Graph.Wallet.ContinueCheck(ctx, scope); err != nil {
				return err
			}
			for _, d := range found {
				c.Logger.ErrorContext(ctx, "the ledger does not balance", "scope", scope, "check", d.Check, "bot_id", d.BotID,
					"transaction_id", d.TransactionID, "expected", d.Expected, "found", d.Found)
			}
		}
	}
	return nil
}
