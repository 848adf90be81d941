package jobs

import (
	"context"

	"stoa/graph/attachments"
	"stoa/jobs/inspection"
)

// Judge is an attachments.Inspector that runs the inspection in a child process, for at most 15 s.
func Judge(ctx context.Context, path string, purpose attachments.Purpose) (attachments.Report, error) {
	return judgeWith(ctx, new(inspection.Inspector), path, purpose)
}

// judgeWith is Judge with an inspector of the caller's, which may have a child started ahead.
func judgeWith(ctx context.Context, with *inspection.Inspector, path string, purpose attachments.Purpose) (attachments.Report, error) {
	report, err := with.Run(ctx, inspection.Request{Path: path, Purpose: inspection.Purpose(purpose)})
	if err != nil {
		return attachments.Report{}, err
	}
	return attachments.Report{
		Accepted: report.Accepted, Reason: report.Reason, MediaType: string(report.MediaType),
		Width: report.Width, Height: report.Height, Pages: report.Pages,
		Preview: report.Preview, Published: report.Published, Remove: report.Remove,
	}, nil
}
