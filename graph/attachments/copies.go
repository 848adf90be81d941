package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

const (
	// copyPatience is how long a reader waits for a public copy that is being made.
	copyPatience = 20 * time.Second
	// cardPatience is how long the record of a file waits for the copy, whose size it tells.
	cardPatience = 5 * time.Second
	// maxCopyWaits is how many readers of one process may wait for public copies at the same time.
	maxCopyWaits = 16
	// copyLost is how long a copy may have been asked for, without one that is being made, before it is asked for again.
	copyLost = 20 * time.Second
)

// PublishJob asks for the public copy of one file.
type PublishJob struct {
	AttachmentID uuid.UUID `json:"attachment_id"`
}

// Kind implements db.Job.
func (PublishJob) Kind() string { return "publish" }

// maxPreviewSide is the longest side of a preview in pixels (contract §7).
const maxPreviewSide = 1024

// isPreview tells whether the preview is the public copy too: an image that the preview shows at its full size.
func (r *record) isPreview() bool {
	return r.publishedType() == jpeg && r.Width != nil && r.Height != nil && max(*r.Width, *r.Height) <= maxPreviewSide
}

// publicSize is the size of the public copy in bytes, the original's while there is none.
func (r *record) publicSize() int64 {
	switch {
	case r.PublishedBytes != nil:
		return *r.PublishedBytes
	case r.isPreview():
		return *r.PreviewBytes
	default:
		return r.SizeBytes
	}
}

// publicFile is the version that others than the owner download, nil while there is none.
func (a *API) publicFile(r *record) *File {
	switch {
	case r.PublishedBytes != nil:
		return &File{
			Name: r.shownName(ofPublic, "", r.publishedType()), MediaType: r.publishedType(), Size: *r.PublishedBytes,
			Tag: tag(*r.PublishedSha256), Public: true, store: a.Store, key: publishedKey(r.ID),
		}
	case r.isPreview():
		return a.previewAsCopy(r)
	default:
		return nil
	}
}

// previewAsCopy is the preview in the place of the public copy.
func (a *API) previewAsCopy(r *record) *File {
	return &File{
		Name: r.shownName(ofPublic, "", jpeg), MediaType: jpeg, Size: *r.PreviewBytes, Tag: tag(*r.PreviewSha256), Public: true,
		store: a.Store, key: previewKey(r.ID),
	}
}

// publicCopy returns the version for others than the owner, and has it made if there is none yet. Of an image whose copy cannot
// be made or kept, the preview is the public version. service_unavailable where the copy takes longer than the reader may wait,
// too many wait, or a PDF's copy cannot be made.
func (a *API) publicCopy(ctx context.Context, r *record, wait time.Duration) (*File, error) {
	if made := a.publicFile(r); made != nil {
		return made, nil
	}
	if a.copyWaits.Add(1) > maxCopyWaits {
		a.copyWaits.Add(-1)
		return nil, fault.New(fault.ServiceUnavailable).Say("Too many public copies are being made at the moment.")
	}
	defer a.copyWaits.Add(-1)
	if err := a.requestCopy(ctx, r.ID); err != nil {
		return nil, err
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		now := new(record)
		var waits bool
		err := a.DB.SQL.QueryRowContext(ctx, readCopy, r.ID).Scan(append(now.targets(), &waits)...)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && !now.available():
			return nil, fault.New(fault.NotFound)
		case err != nil:
			return nil, err
		}
		if made := a.publicFile(now); made != nil {
			return made, nil
		}
		if !waits {
			return a.withoutCopy(now)
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			return nil, fault.New(fault.ServiceUnavailable).Say("The public copy of the file is being made; try again soon.")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// withoutCopy is the public version of a file whose copy cannot be made at the moment.
func (a *API) withoutCopy(r *record) (*File, error) {
	if r.publishedType() != jpeg {
		return nil, fault.New(fault.ServiceUnavailable).Say("The public copy of the file cannot be made at the moment.")
	}
	return a.previewAsCopy(r), nil
}

var readCopy = `
SELECT ` + columns + `, EXISTS (
  SELECT FROM attachment_copies c WHERE c.attachment_id = a.id AND (c.failed_until IS NULL OR c.failed_until <= stoa_now()))
FROM attachments a WHERE a.id = $1`

// askCopy returns a row where the job must be asked for: the first time, after a failure's time, and after a crash.
const askCopy = `
INSERT INTO attachment_copies AS c (attachment_id, queued_at)
SELECT id, stoa_now() FROM attachments WHERE id = $1 AND status = 'ready' AND deleted_at IS NULL AND published_bytes IS NULL
ON CONFLICT (attachment_id) DO UPDATE SET queued_at = stoa_now(), failed_until = NULL,
  attempts = CASE WHEN c.failed_until IS NULL THEN c.attempts ELSE 0 END
WHERE c.failed_until <= stoa_now() OR c.failed_until IS NULL AND c.queued_at <= stoa_now() - make_interval(secs => $2)
  AND (c.lease_until IS NULL OR c.lease_until <= stoa_now())
RETURNING true`

// requestCopy asks for a public copy once, however many readers wait for it.
func (a *API) requestCopy(ctx context.Context, id uuid.UUID) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		var asked bool
		err := tx.SQL.QueryRowContext(ctx, askCopy, id, copyLost.Seconds()).Scan(&asked)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return a.Enqueue(ctx, tx, PublishJob{AttachmentID: id})
	})
}
