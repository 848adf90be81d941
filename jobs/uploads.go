package jobs

import (
	"context"
	"os"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/jobs/inspection"
)

// InspectFile is an attachments.Inspector that starts a child process for each file. Tests use it; the server keeps a child
// started ahead (Config.Inspector).
func InspectFile(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	return report(new(inspection.Inspector).Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Purpose(purpose)}))
}

// inspect is the attachments.Inspector of the server, measured.
func (c Config) inspect(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	began := time.Now()
	ctx, end := tracing.Operation(ctx, "inspection.Inspect")
	made, err := report(c.Inspector.Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Purpose(purpose)}))
	verdict := metrics.Refused
	switch {
	case err != nil:
		verdict = metrics.Undecided
	case made.Accepted:
		verdict = metrics.Accepted
	}
	c.Metrics.Inspections.Done(time.Since(began), verdict)
	end(err)
	return made, err
}

// DrawPage is the attachments.PageDrawer of a server. It starts a child process for each page.
func DrawPage(ctx context.Context, original *os.File, page int) (attachments.Report, error) {
	return report(new(inspection.Inspector).Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Order, Page: page}))
}

// report is the report of an inspection for the domain. A file whose child reached a limit of processor time or memory is refused; a
// child that ended in any other way without a report, also one that was given too little of the processor, makes it ErrCrashed.
func report(report inspection.Report, err error) (attachments.Report, error) {
	switch {
	case err != nil:
		return attachments.Report{}, err
	case report.Ending == inspection.Crashed:
		return attachments.Report{Processor: report.Processor}, attachments.ErrCrashed
	}
	return attachments.Report{
		Accepted: report.Accepted, Reason: report.Reason, MediaType: string(report.MediaType),
		Width: report.Width, Height: report.Height, Pages: report.Pages,
		Preview: report.Preview, Published: report.Published, Processor: report.Processor,
	}, nil
}
