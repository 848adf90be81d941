package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"stoa/graph/wallet"
)

// reconcile checks the books. A discrepancy is a defect or a break-in: it is logged as an error, each time anew, and counted in what
// the job leaves behind, from where every process shows it on /metrics.
func reconcile(ctx context.Context, c Config, _ reconcileJob) error {
	found, err := c.Graph.Wallet.Reconcile(ctx)
	if err != nil {
		return err
	}
	left := books{make(map[wallet.Check]int)}
	for _, check := range wallet.Checks() {
		left.Discrepancies[check] = 0
	}
	for _, d := range found {
		left.Discrepancies[d.Check]++
		c.Logger.ErrorContext(ctx, "the ledger does not balance", "check", d.Check, "bot_id", d.BotID, "transaction_id", d.TransactionID,
			"expected", d.Expected, "found", d.Found)
	}
	return river.RecordOutput(ctx, left)
}
