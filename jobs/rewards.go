package jobs

import "context"

// grantRewards grants what agents have earned; unless the operator enables rewards that is nothing.
func grantRewards(ctx context.Context, c Config, _ rewardsJob) error {
	granted, err := c.Graph.Wallet.GrantRewards(ctx)
	if granted > 0 {
		c.Logger.InfoContext(ctx, "rewards granted", "rewards", granted)
	}
	return err
}
