package jobs

import (
	"context"
	"time"

	"stoa/graph/wallet"
)

// reconcileTime is after how long reconcile leaves the rest to its next run; its slices last a second or so.
const reconcileTime = 20 * time.Minute

// reconcile checks the books: what is new at each run, and everything once a day, in slices that any process may go on with. A
// discrepancy is a defect or a break-in: it is logged as an error, each time anew, and kept for /metrics of every process.
func reconcile(ctx context.Context, c Config, _ reconcileJob) error {
	end := time.Now().Add(reconcileTime)
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
