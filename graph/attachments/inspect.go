package attachments

import (
	"context"
	"errors"
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

// Inspector judges the file at path, in whose folder it may work, and makes its preview; for publication it makes the public copy of a
// file that was accepted before. What the inspector finds in the bytes is a verdict. An error means that there is none: this machine
// could not judge, or, where the error is ErrCrashed, the inspection itself came to an end that nobody can blame on the file, such as
// a kill.
type Inspector func(ctx context.Context, path string, purpose Purpose) (Report, error)

// ErrCrashed is the error of an inspection that was begun and did not reach a verdict.
var ErrCrashed = errors.New("attachments: the inspection crashed")

// maxAttempts is how often the inspection of one upload is begun.
const maxAttempts = 3

// Inspect brings about the verdict on an upload: it waits for an inspection slot, holds it while it runs, and stores what was
// made of the file. It returns nil where there is nothing to do any more: the upload is decided, gone, or being inspected
// elsewhere. An error means that it should be called again. It is called by a job and checks no caller.
//
// Only a verdict rejects a file. After maxAttempts without one the upload is given up: nothing of it stays but, where the
// inspection crashed, its count among the upload records, and the client may send it again.
func (a *API) Inspect(ctx context.Context, id uuid.UUID, judge Inspector) error {
	held, err := a.claim(ctx, id)
	if err != nil || held == nil {
		return err
	}
	if held.attempt > maxAttempts { // the processes of all attempts have died
		return persist(ctx, func(ctx context.Context) error { return a.fail(ctx, held) })
	}
	leased, stop := a.renew(ctx, renewLease, held.id, held.lease)
	err = a.decide(leased, held, judge)
	stop()
	if err == nil {
		return nil
	}
	interrupted := ctx.Err() != nil
	last := held.attempt == maxAttempts && !interrupted
	giveBack(ctx, func(ctx context.Context) error {
		switch {
		case gcerrors.Code(err) == gcerrors.NotFound, last && !errors.Is(err, ErrCrashed):
			return a.drop(ctx, held)
		case last:
			return a.fail(ctx, held)
		default:
			return a.returnLease(ctx, held.id, held.lease, !interrupted)
		}
	})
	return err
}

// decide judges the file and writes the verdict, which it holds on to while the database is away.
func (a *API) decide(ctx context.Context, held *lease, judge Inspector) (err error) {
	work, err := newScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.remove()) }()
	path := filepath.Join(work.folder, original)
	if err := a.get(ctx, originalKey(held.id), path); err != nil {
		return err
	}
	report, err := judge(ctx, path, held.purpose)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, report.Remove()) }()
	if !report.Accepted {
		return persist(ctx, func(ctx context.Context) error { return a.reject(ctx, held, report) })
	}
	small, err := a.put(ctx, previewKey(held.id), report.Preview)
	if err != nil {
		return err
	}
	return persist(ctx, func(ctx context.Context) error { return a.accept(ctx, held, report, small) })
}
