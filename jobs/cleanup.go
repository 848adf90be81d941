package jobs

import (
	"context"
	"errors"
	"fmt"
)

// cleanup deletes what is past its retention. One sweep that fails does not keep the others from theirs.
func cleanup(ctx context.Context, c Config, _ cleanupJob) error {
	var failed []error
	for _, sweep := range c.Graph.Operator.Sweeps {
		n, err := sweep.Run(ctx)
		if n > 0 {
			c.Logger.InfoContext(ctx, "cleaned up", "sweep", sweep.Name, "deleted", n)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", sweep.Name, err))
		}
	}
	return errors.Join(failed...)
}
