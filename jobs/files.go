package jobs

import (
	"context"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// inspect brings about the verdict on an upload.
func inspect(ctx context.Context, c Config, args inspectJob) error {
	return c.Graph.Attachments.Inspect(ctx, args.AttachmentID, c.judge)
}

// publish makes the public copy of a file.
func publish(ctx context.Context, c Config, args publishJob) error {
	return c.Graph.Attachments.Publish(ctx, args.AttachmentID, c.judge)
}

// judge is Judge, counted.
func (c Config) judge(ctx context.Context, path string, purpose attachments.Purpose) (attachments.Report, error) {
	began := time.Now()
	ctx, end := tracing.Operation(ctx, "inspection.Judge")
	report, err := judgeWith(ctx, c.Inspector, path, purpose)
	verdict := metrics.Refused
	switch {
	case err != nil:
		verdict = metrics.Undecided
	case report.Accepted:
		verdict = metrics.Accepted
	}
	c.Metrics.Inspections.Done(verdict, time.Since(began))
	end(err)
	return report, err
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
