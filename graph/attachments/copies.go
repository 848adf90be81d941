package attachments

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// publication is the purpose of an inspection that makes only the public copy; no file is uploaded for it.
const publication Purpose = "publication"

// missingBatch is the number of files without a copy that one query returns.
const missingBatch = 20

// version is a version of a file that can be downloaded. It has no key if it is not made yet.
type version struct {
	media  string
	size   int64
	sha256 []byte
	key    string
}

// published returns the public version of a file: the copy, or the preview if it shows a JPEG at its full size. A file that an
// earlier version of the server accepted may have no copy. Until MakeMissingCopies has made it, an image is served as its
// preview, and a PDF has no key. A copy without a recorded type is a PDF, or a JPEG like a preview.
func (r *row) published() version {
	v := version{jpeg, *r.PreviewSize, r.PreviewSHA256, previewKey(r.ID)}
	if *r.MediaType == pdf {
		v = version{media: pdf, size: r.Size}
	}
	if r.PublishedType != nil {
		v.media = *r.PublishedType
	}
	if r.PublishedSize != nil {
		v.size, v.sha256, v.key = *r.PublishedSize, r.PublishedSHA256, publishedKey(r.ID)
	}
	return v
}

// MakeMissingCopies makes the public copies that an earlier version did not make, until all are made or until is reached. It
// returns their number. The owners' budgets do not limit these copies, and their processor time is not charged. Only a job calls
// it.
func (a *API) MakeMissingCopies(ctx context.Context, inspect Inspector, until time.Time) (made int64, err error) {
	var problems []error
	for last := uuid.Nil; ; {
		missing, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("missing_copies"), last, maxPreviewSide, missingBatch)
		if err != nil || len(missing) == 0 {
			return made, errors.Join(append(problems, err)...)
		}
		for _, last = range missing {
			if !time.Now().Before(until) {
				return made, errors.Join(problems...)
			}
			if err := a.makeCopy(ctx, last, inspect); err != nil {
				problems = append(problems, err)
				continue
			}
			made++
		}
	}
}

// makeCopy makes and stores one copy. If no copy can be made of a file, it is not tried again.
func (a *API) makeCopy(ctx context.Context, id uuid.UUID, inspect Inspector) (err error) {
	original, err := a.openOriginal(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, original.Close()) }()
	report, err := inspect(ctx, original, publication)
	if err != nil {
		return err
	}
	var stored object
	if report.Accepted {
		if stored, err = a.put(ctx, publishedKey(id), report.Published); err != nil {
			return err
		}
	}
	return a.locked(ctx, func(ctx context.Context, tx *db.Tx) error {
		return db.Exec(ctx, tx.SQL, named("keep_copy"), id, stored.size, stored.sha256, report.MediaType)
	})
}
