package jobs

import "context"

// moveInactive moves agents to the trash whose time has come; until the operator activates the lifecycle there are none.
func moveInactive(ctx context.Context, c Config, _ lifecycleJob) error {
	moved, err := c.Graph.Bots.Trash(ctx)
	if moved > 0 {
		c.Logger.InfoContext(ctx, "inactive agents moved to the trash", "agents", moved)
	}
	return err
}
