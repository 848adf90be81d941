package jobs

import (
	"context"
	"errors"

	"stoa/graph/attachments"
	"stoa/jobs/inspection"
)

// Judge is the attachments.Inspector of the server: it runs the inspection in a child process, for at most 15 s. A file whose
// child reached a limit of its own is refused; a child that ended in any other way without a verdict makes it ErrCrashed.
func Judge(ctx context.Context, path string, purpose attachments.Purpose) (attachments.Report, error) {
	return judgeWith(ctx, new(inspection.Inspector), path, purpose)
}

// judgeWith is Judge with an inspector of the caller's, which may have a child started ahead.
func judgeWith(ctx context.Context, with *inspection.Inspector, path string, purpose attachments.Purpose) (attachments.Report, error) {
	report, err := with.Run(ctx, inspection.Request{Path: path, Purpose: inspection.Purpose(purpose)})
	if err != nil {
		return attachments.Report{}, err
	}
	if report.Ending == inspection.Crashed {
		return attachments.Report{}, errors.Join(attachments.ErrCrashed, report.Remove())
	}
	return attachments.Report{
		Accepted: report.Accepted, Reason: report.Reason, MediaType: string(report.MediaType),
		Width: report.Width, Height: report.Height, Pages: report.Pages,
		Preview: report.Preview, Published: report.Published, Remove: report.Remove,
	}, nil
}
