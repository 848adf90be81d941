package jobs

import "context"

// reconcile checks the books. A discrepancy is a defect or a break-in: it is logged as an error, each time anew.
func reconcile(ctx context.Context, c Config, _ reconcileJob) error {
	found, err := c.Graph.Wallet.Reconcile(ctx)
	for _, d := range found {
		c.Logger.ErrorContext(ctx, "the ledger does not balance", "check", d.Check, "bot_id", d.BotID, "transaction_id", d.TransactionID,
			"expected", d.Expected, "found", d.Found)
	}
	return err
}
