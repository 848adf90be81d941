package attachments

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

const (
	// maxCopyWaits is how many readers of one process may wait for public copies at the same time.
	maxCopyWaits = 16
	// copyLost is how long a copy may have been asked for, without one that is being made, before it is asked for again.
	copyLost = 20 * time.Second
)

var (
	// copyWait is how long a reader waits for a public copy that is being made.
	copyWait = slack.Of(20 * time.Second)
	// cardWait is how long the record of a file waits for the copy, because it shows the copy's size.
	cardWait = slack.Of(5 * time.Second)
)

// publicFile is the version that others than the owner download; nil if it has not been made.
func (a *API) publicFile(r *row) *File {
	switch {
	case r.PublishedSize != nil:
		return &File{
			Name: r.shownName(ofPublic, "", r.publicType()), MediaType: r.publicType(), Size: *r.PublishedSize,
			Tag: tag(r.PublishedSHA256), Public: true, store: a.Store, key: publishedKey(r.ID),
		}
	case r.previewIsCopy():
		return a.previewFile(r)
	default:
		return nil
	}
}

// previewFile is the preview in place of the public copy.
func (a *API) previewFile(r *row) *File {
	return &File{
		Name: r.shownName(ofPublic, "", jpeg), MediaType: jpeg, Size: *r.PreviewSize, Tag: tag(r.PreviewSHA256), Public: true,
		store: a.Store, key: previewKey(r.ID),
	}
}

// publicCopy returns the version for others than the owner. It is made before a file is published (publication.go), but not by
// earlier versions of this program: until MakeMissingCopies has made such a copy, the first reader asks for it and waits. If it
// cannot be made, an image is served as its preview. service_unavailable if the copy takes longer than the reader may wait, too
// many wait, or a PDF's copy cannot be made.
func (a *API) publicCopy(ctx context.Context, r *row, wait time.Duration) (*File, error) {
	if made := a.publicFile(r); made != nil {
		return made, nil
	}
	if a.copyWaits.Add(1) > maxCopyWaits {
		a.copyWaits.Add(-1)
		return nil, fault.New(fault.ServiceUnavailable).Say("Too many public copies are being made at the moment.")
	}
	defer a.copyWaits.Add(-1)
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error { return a.requestCopies(ctx, tx, []uuid.UUID{r.ID}, false) })
	if err != nil {
		return nil, err
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		now, err := db.One[readRow](ctx, a.DB.SQL, readAttachment, r.ID, uuid.NullUUID{})
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && !now.available():
			return nil, fault.New(fault.NotFound)
		case err != nil:
			return nil, err
		}
		if made := a.publicFile(&now.row); made != nil {
			return made, nil
		}
		if !now.CopyRequested {
			return a.withoutCopy(&now.row)
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
func (a *API) withoutCopy(r *row) (*File, error) {
	if *r.MediaType == pdf {
		return nil, fault.New(fault.ServiceUnavailable).Say("The public copy of the file cannot be made at the moment.")
	}
	return a.previewFile(r), nil
}
