package attachments

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"gocloud.dev/gcerrors"
)

// Report is the verdict on one file, and the path of what was made of it: a preview, or the public copy.
type Report struct {
	Accepted bool
	// Reason is one sentence for the sender of a refused file.
	Reason    string
	MediaType string
	// Width and Height in pixels as displayed, Pages of a PDF; 0 where they do not apply.
	Width, Height, Pages int
	Preview, Published   string
	// Remove deletes what was made.
	Remove func() error
}

// Inspector judges the file at path, in whose folder it may work, and makes its preview; for publication it makes the public
// copy of a file that was accepted before. What the bytes cause is a verdict; an error means that this
// machine could not judge.
type Inspector func(ctx context.Context, path string, purpose Purpose) (Report, error)

// maxAttempts is how often the inspection of one upload is begun.
const maxAttempts = 3

// Inspect brings about the verdict on an upload: it waits for an inspection slot, holds it while it runs, and stores what was
// made of the file. It returns nil where there is nothing to do any more: the upload is decided, gone, or being inspected
// elsewhere. An error means that it should be called again. It is a job's and checks no caller.
func (a *API) Inspect(ctx context.Context, id uuid.UUID, judge Inspector) error {
	held, err := a.claim(ctx, id)
	if err != nil || held == nil {
		return err
	}
	if held.attempt > maxAttempts {
		return a.reject(ctx, held, Report{Reason: "The file could not be inspected."})
	}
	leased, release := a.keep(ctx, held)
	err = a.decide(leased, held, judge)
	release()
	if err == nil {
		return nil
	}
	// The machine's failure, not the file's. The context may be what ended.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound, held.attempt == maxAttempts && ctx.Err() == nil:
		return errors.Join(err, a.drop(late, held))
	default:
		return errors.Join(err, a.giveBack(late, held, ctx.Err() == nil))
	}
}

// decide judges the file and writes the verdict.
func (a *API) decide(ctx context.Context, held *lease, judge Inspector) (err error) {
	folder, err := newScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, original)
	if err := a.get(ctx, originalKey(held.id), path); err != nil {
		return err
	}
	report, err := judge(ctx, path, held.purpose)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, report.Remove()) }()
	if !report.Accepted {
		return a.reject(ctx, held, report)
	}
	small, err := a.put(ctx, previewKey(held.id), report.Preview)
	if err != nil {
		return err
	}
	return a.accept(ctx, held, report, small)
}
