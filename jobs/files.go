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

// sweepFiles deletes the bytes that nobody needs any more.
func sweepFiles(ctx context.Context, c Config, _ filesJob) error {
	n, err := c.Graph.Attachments.Sweep(ctx)
	if n > 0 {
		c.Logger.InfoContext(ctx, "cleaned up", "sweep", "files", "deleted", n)
	}
	return err
}
