package attachments

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/google/uuid"
	"gocloud.dev/gcerrors"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/viewer"
)

// AttachmentInput names a file.
type AttachmentInput struct {
	AttachmentID string `json:"-" path:"attachment_id"`
}

// AttachmentResult is one file, as REST wraps it.
type AttachmentResult struct {
	Attachment *Card `json:"attachment"`
}

// rights are a reader's rights to a file.
type rights string

const (
	ofOwner       rights = "owner"
	ofParticipant rights = "participant"
	ofPublic      rights = "public"
)

// whole reports whether the reader may download the original and see its name and hash.
func (r rights) whole() bool { return r == ofOwner || r == ofParticipant }

// readRow is a file as one caller reads it.
type readRow struct {
	row

	// Rights are nil for a caller without any right to the file.
	Rights *rights `db:"rights"`
}

// read returns a record and the caller's rights to it: not_found if it has none, invalid_id if the id is not a UUID. A pending
// upload cannot be read: it has no status to show yet.
func (a *API) read(ctx context.Context, id string) (*row, rights, error) {
	parsed, err := input.ID("attachment_id", id)
	if err != nil {
		return nil, "", err
	}
	r, err := db.One[readRow](ctx, a.DB.SQL, named("read_attachment"), parsed, viewer.From(ctx).BotID)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && (r.Rights == nil || r.Status == attachment.StatusPending)) {
		return nil, "", fault.New(fault.NotFound)
	}
	if err != nil {
		return nil, "", err
	}
	return &r.row, *r.Rights, nil
}

// Attachment returns the record of a file (§4.8). Anyone may call it. Faults: invalid_id, not_found (also if the caller may not
// read it).
func (a *API) Attachment(ctx context.Context, in AttachmentInput) (*AttachmentResult, error) {
	r, granted, err := a.read(ctx, in.AttachmentID)
	if err != nil {
		return nil, err
	}
	return &AttachmentResult{Attachment: newCard(r, granted)}, nil
}

// File holds bytes that the caller may download.
type File struct {
	// Name is for Content-Disposition; only the owner and an order's participants see the sender's name.
	Name      string
	MediaType string
	// Size in bytes.
	Size int64
	// Tag is a strong validator of the bytes, without quotes.
	Tag string
	// Public reports that everyone may download these bytes.
	Public bool

	store *Store
	key   string
	// made holds the bytes of a file that was made for one answer and is not stored.
	made []byte
}

// StoredFile returns a file whose bytes are an object of the store that is not an upload. about holds the other fields.
func StoredFile(store *Store, key string, about File) *File {
	about.store, about.key = store, key
	return &about
}

// inMemory holds bytes in memory; Close does nothing.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// Open returns a reader of the bytes from offset on. Faults: not_found if they are deleted, service_unavailable if the store
// fails.
func (f *File) Open(ctx context.Context, offset int64) (io.ReadSeekCloser, error) {
	if f.made != nil {
		return inMemory{bytes.NewReader(f.made[offset:])}, nil
	}
	reader, err := f.store.NewRangeReader(ctx, f.key, offset, -1, nil)
	if err != nil {
		return nil, unread(err)
	}
	return reader, nil
}

// unread returns the fault of an object that cannot be read.
func unread(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fault.Wrap(fault.NotFound, err)
	}
	return fault.Wrap(fault.ServiceUnavailable, err)
}

// AttachmentPreview returns the preview, always a JPEG (§2.7). Faults: as Attachment; also not_found if the bytes are deleted.
func (a *API) AttachmentPreview(ctx context.Context, in AttachmentInput) (*File, error) {
	r, granted, err := a.readAvailable(ctx, in.AttachmentID)
	if err != nil {
		return nil, err
	}
	return &File{
		Name: r.shownName(granted, "-preview", jpeg), MediaType: jpeg, Size: *r.PreviewSize, Tag: tag(r.PreviewSHA256),
		Public: granted == ofPublic, store: a.Store, key: previewKey(r.ID),
	}, nil
}

// AttachmentDownload returns the original to the owner and to the participants of its order, and the public copy to everyone
// else who may read the file (§2.1). Faults: as AttachmentPreview; also service_unavailable for a PDF of an earlier version whose
// copy is not made yet.
func (a *API) AttachmentDownload(ctx context.Context, in AttachmentInput) (*File, error) {
	r, granted, err := a.readAvailable(ctx, in.AttachmentID)
	if err != nil {
		return nil, err
	}
	if granted.whole() {
		return &File{
			Name: r.FileName, MediaType: *r.MediaType, Size: r.Size, Tag: tag(r.SHA256), store: a.Store, key: originalKey(r.ID),
		}, nil
	}
	v := r.published()
	if v.key == "" {
		return nil, fault.New(fault.ServiceUnavailable).Say("The public copy of the file is being made; try again later.")
	}
	return &File{
		Name: r.shownName(ofPublic, "", v.media), MediaType: v.media, Size: v.size, Tag: tag(v.sha256), Public: true,
		store: a.Store, key: v.key,
	}, nil
}

// Original returns the bytes of a file as they were uploaded, 20 MiB at most. The caller has checked that the reader may read
// them, such as an operator who inspects an order (§2.6). Faults: not_found if they are deleted, service_unavailable if the store
// is unavailable.
func (a *API) Original(ctx context.Context, id uuid.UUID) ([]byte, error) {
	raw, err := a.Store.ReadAll(ctx, originalKey(id))
	if err != nil {
		return nil, unread(err)
	}
	return raw, nil
}

func (a *API) readAvailable(ctx context.Context, id string) (*row, rights, error) {
	r, granted, err := a.read(ctx, id)
	if err == nil && !r.available() {
		err = fault.New(fault.NotFound)
	}
	return r, granted, err
}

// extensions are the file extensions of previews, pages and copies.
var extensions = map[string]string{jpeg: ".jpg", png: ".png", pdf: ".pdf"}

// shownName returns the name of a preview, page or copy: the sender's name if the reader may know it, else the id.
func (r *row) shownName(granted rights, suffix, media string) string {
	stem := r.ID.String()
	if granted.whole() {
		stem = strings.TrimSuffix(r.FileName, path.Ext(r.FileName))
	}
	return stem + suffix + extensions[media]
}

func tag(sum []byte) string { return base64.RawURLEncoding.EncodeToString(sum) }
