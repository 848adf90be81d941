package attachments

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/gcerrors"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

// Report is the result of an inspection: accepted or refused, and the files that were made.
type Report struct {
	Accepted bool
	// Reason is one sentence for the sender of a refused file.
	Reason    string
	MediaType string
	// Width and Height are in pixels as displayed, Pages is set for a PDF; 0 if they do not apply.
	Width, Height, Pages int
	// Preview is a JPEG; Published is the public copy, empty if the file cannot become public or the preview is its copy.
	Preview, Published []byte
	// Processor is the processor time that it took, also if the inspection crashed.
	Processor time.Duration
}

// Inspector inspects a file and makes its preview and its public copy. For the purpose publication it makes only the copy of an
// accepted file. Its findings about the bytes are in the report. An error means that this machine could not inspect the file.
// ErrCrashed means that the inspection ended early, perhaps not because of the file: it may have been killed.
type Inspector func(ctx context.Context, original *os.File, purpose Purpose) (Report, error)

// ErrCrashed is the error of an inspection that began but made no report.
var ErrCrashed = errors.New("attachments: the inspection crashed")

// maxAttempts is the maximum number of inspections of one upload.
const maxAttempts = 3

// Inspect waits for an inspection slot, inspects an upload while it holds the slot, and stores the result and the preview. Agents
// take turns, so it may inspect another upload than id; the job of that upload then finds it inspected. It returns nil if no
// upload waits any more. After an error the caller should call it again. Only a job calls it.
//
// Only a report rejects a file. After maxAttempts without a report the upload is deleted, and the client may send it again. If
// the inspection crashed, the upload still counts among the upload records.
func (a *API) Inspect(ctx context.Context, id uuid.UUID, inspect Inspector) error {
	held, err := a.claim(ctx, id)
	if err != nil || held == nil {
		return err
	}
	if held.Attempt > maxAttempts { // the processes of all attempts have died
		return db.RetryUnavailable(ctx, func(ctx context.Context) error { return a.end(ctx, held, named("delete_crashed_upload")) })
	}
	leased, stop := a.renew(ctx, renewInterval, named("renew_lease"), func() []any { return []any{held.ID, held.Lease} })
	err = a.inspect(leased, held, inspect)
	stop()
	if err == nil {
		return nil
	}
	interrupted := ctx.Err() != nil
	last := held.Attempt == maxAttempts && !interrupted
	cleanUp(ctx, func(ctx context.Context) error {
		switch {
		case gcerrors.Code(err) == gcerrors.NotFound, last && !errors.Is(err, ErrCrashed):
			return a.end(ctx, held, named("delete_upload"))
		case last: // it goes on counting, so that a file that crashes every inspection cannot be sent without end
			return a.end(ctx, held, named("delete_crashed_upload"))
		default:
			return a.returnLease(ctx, held.ID, held.Lease, !interrupted)
		}
	})
	return err
}

// inspect runs the inspection and writes its result. It keeps the result while the database is unavailable.
func (a *API) inspect(ctx context.Context, held *lease, inspect Inspector) (err error) {
	original, err := a.openOriginal(ctx, held.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, original.Close()) }()
	report, err := inspect(ctx, original, held.Purpose)
	if err != nil {
		return errors.Join(err, a.charge(ctx, held.Owner, report))
	}
	var preview, published object
	if report.Accepted {
		if preview, err = a.put(ctx, previewKey(held.ID), report.Preview); err != nil {
			return err
		}
		if len(report.Published) > 0 {
			if published, err = a.put(ctx, publishedKey(held.ID), report.Published); err != nil {
				return err
			}
		}
	}
	if err := a.charge(ctx, held.Owner, report); err != nil {
		return err
	}
	if !report.Accepted {
		return db.RetryUnavailable(ctx, func(ctx context.Context) error {
			return a.end(ctx, held, named("reject_upload"), report.Reason, report.MediaType)
		})
	}
	return db.RetryUnavailable(ctx, func(ctx context.Context) error { return a.accept(ctx, held, report, preview, published) })
}

// charge adds the processor time of an inspection to the agent's total.
func (a *API) charge(ctx context.Context, agent uuid.UUID, report Report) error {
	if report.Processor == 0 {
		return nil
	}
	return db.RetryUnavailable(ctx, func(ctx context.Context) error {
		return db.Exec(ctx, a.DB.SQL, named("charge_inspection"), agent, report.Processor.Seconds(), forgotten(a.Quotas))
	})
}

// accept makes the upload ready and releases the reserved bytes that preview and copy did not need. If these do not fit into the
// budgets, it deletes the upload, which may be sent again. It does nothing if the lease was lost.
func (a *API) accept(ctx context.Context, held *lease, report Report, preview, published object) error {
	var fits bool
	err := a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		u, err := db.One[usage](ctx, tx.SQL, named("read_usage"), everyone, held.Owner, uuid.Nil)
		if err != nil {
			return err
		}
		if fits = u.check(a.Quotas, demand{bytes: held.Size + preview.size + published.size - held.Reserved}) == nil; !fits {
			return nil
		}
		return db.Exec(ctx, tx.SQL, named("accept_upload"), held.ID, held.Lease, report.MediaType, report.Width, report.Height,
			report.Pages, preview.size, preview.sha256, published.size, published.sha256)
	})
	if err == nil && !fits {
		return a.end(ctx, held, named("delete_large_upload"), leaseTime.Seconds())
	}
	return err
}

// end runs a statement that rejects an upload, or deletes its record so that it may be sent again, and deletes its bytes. It does
// nothing if the lease was lost.
func (a *API) end(ctx context.Context, held *lease, s *db.Statement, args ...any) error {
	var ended int64
	err := a.locked(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		ended, err = db.Changed(ctx, tx.SQL, s, append([]any{held.ID, held.Lease}, args...)...)
		return err
	})
	if err == nil && ended == 1 {
		_ = a.deleteObjects(context.WithoutCancel(ctx), held.ID) // DeleteOrphans deletes the rest
	}
	return err
}

// Metrics returns the numbers of uploads in the whole cluster that are being received, wait or are being inspected, for /metrics.
// It checks no caller.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	return metrics.Read(ctx, a.DB.SQL, named("inspection_metrics"))
}
