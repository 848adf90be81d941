package attachments

import (
	"stoa/ent"
	"stoa/ent/attachment"
)

// record is a row of attachments with what decides about its bytes.
type record struct{ ent.Attachment }

// columns of a record, of the attachment a.
const columns = `a.id, a.created_at, a.owner_id, a.upload_id, a.purpose, a.status, a.rejection, a.file_name, a.size_bytes, a.sha256,
  a.media_type, a.width, a.height, a.pages, a.preview_bytes, a.preview_sha256, a.published_bytes, a.published_sha256,
  a.bound_kind, a.bound_id, a.deleted_at`

// targets of columns, in their order.
func (r *record) targets() []any {
	return []any{
		&r.ID, &r.CreatedAt, &r.OwnerID, &r.UploadID, &r.Purpose, &r.Status, &r.Rejection, &r.FileName, &r.SizeBytes, &r.Sha256,
		&r.MediaType, &r.Width, &r.Height, &r.Pages, &r.PreviewBytes, &r.PreviewSha256, &r.PublishedBytes, &r.PublishedSha256,
		&r.BoundKind, &r.BoundID, &r.DeletedAt,
	}
}

// available tells whether the bytes may be served.
func (r *record) available() bool { return r.Status == attachment.StatusReady && r.DeletedAt == nil }

// publishedType is the media type of the published version: images are JPEG, whatever they were.
func (r *record) publishedType() string {
	if r.MediaType != nil && *r.MediaType == pdf {
		return pdf
	}
	return jpeg
}
