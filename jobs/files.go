package jobs

import "context"

// inspect brings about the verdict on an upload.
func inspect(ctx context.Context, c Config, args inspectJob) error {
	return c.Graph.Attachments.Inspect(ctx, args.AttachmentID, Judge)
}

// recoverUploads asks again for the inspections that a crash cut off.
func recoverUploads(ctx context.Context, c Config, _ recoverJob) error {
	_, err := c.Graph.Attachments.Recover(ctx)
	return err
}

// sweepStrays deletes bytes that no record speaks for.
func sweepStrays(ctx context.Context, c Config, _ straysJob) error {
	n, err := c.Graph.Attachments.SweepStrays(ctx)
	if n > 0 {
		c.Logger.InfoContext(ctx, "cleaned up", "sweep", "strays", "deleted", n)
	}
	return err
}
