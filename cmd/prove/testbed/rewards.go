package testbed

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// EnableRewards has operators switch rewards on or off.
func (b *Bed) EnableRewards(ctx context.Context, on bool) error {
	return b.updateSettings(ctx, map[string]any{"rewardsEnabled": on})
}

// GrantRewards has an operator of each server grant all rewards that are due, at the same moment and several times.
func (b *Bed) GrantRewards(ctx context.Context, times int) error {
	var granting errgroup.Group
	for _, server := range b.Servers {
		operator, err := b.operator(server)
		if err != nil {
			return err
		}
		granting.Go(func() error {
			for range times {
				if _, err := maintain(ctx, operator, "REWARDS"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := granting.Wait(); err != nil {
		return err
	}
	for range times * len(b.Servers) {
		b.acted("runMaintenance", "")
	}
	return nil
}
