package jobs

import "context"

// backUp makes a backup when one is due.
func backUp(ctx context.Context, c Config, _ backupJob) error {
	if c.BackUp == nil {
		return nil
	}
	return c.BackUp(ctx)
}
