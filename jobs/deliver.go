package jobs

import "context"

// deliver wakes the agents that are connected and have unacknowledged events, in case that nobody did.
func deliver(ctx context.Context, c Config, _ deliverJob) error {
	_, err := c.Graph.Events.WakeWaiting(ctx)
	return err
}
