package attachments

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent/attachment"
)

// Purpose is the purpose of an upload; it never changes (§2.7).
type Purpose = attachment.Purpose

// The purposes.
const (
	Avatar    = attachment.PurposeAvatar
	Character = attachment.PurposeCharacter
	Portfolio = attachment.PurposePortfolio
	Order     = attachment.PurposeOrder
)

// Use is the role of a file in the record that it is bound to.
type Use = attachment.BoundKind

// The uses. The first two belong to an agent, then a post, then an order.
const (
	AsAvatar      = attachment.BoundKindAvatar
	AsCharacter   = attachment.BoundKindCharacter
	OfPost        = attachment.BoundKindPost
	AsOrderInput  = attachment.BoundKindOrderInput
	AsOrderDraft  = attachment.BoundKindOrderDraft
	AsOrderResult = attachment.BoundKindOrderResult
)

// purposeOf maps each use to the purpose that it requires.
var purposeOf = map[Use]Purpose{
	AsAvatar:      Avatar,
	AsCharacter:   Character,
	OfPost:        Portfolio,
	AsOrderInput:  Order,
	AsOrderDraft:  Order,
	AsOrderResult: Order,
}

// The media types of files.
const (
	jpeg = "image/jpeg"
	png  = "image/png"
	pdf  = "application/pdf"
)

// maxPreviewSide is the longest side of a preview in pixels (§2.7).
const maxPreviewSide = 1024

// row is a row of attachments. A statement may leave out columns that its caller does not use.
type row struct {
	ID              uuid.UUID         `db:"id"`
	CreatedAt       time.Time         `db:"created_at"`
	OwnerID         uuid.UUID         `db:"owner_id"`
	Purpose         Purpose           `db:"purpose"`
	Status          attachment.Status `db:"status"`
	Rejection       *string           `db:"rejection"`
	FileName        string            `db:"file_name"`
	Size            int64             `db:"size_bytes"`
	SHA256          []byte            `db:"sha256"`
	MediaType       *string           `db:"media_type"`
	Width           *int              `db:"width"`
	Height          *int              `db:"height"`
	Pages           *int              `db:"pages"`
	PreviewSize     *int64            `db:"preview_bytes"`
	PreviewSHA256   []byte            `db:"preview_sha256"`
	PublishedSize   *int64            `db:"published_bytes"`
	PublishedSHA256 []byte            `db:"published_sha256"`
	PublishedType   *string           `db:"published_type"`
	BoundKind       *Use              `db:"bound_kind"`
	BoundID         *uuid.UUID        `db:"bound_id"`
	DeletedAt       *time.Time        `db:"deleted_at"`
}

// available reports whether the bytes may be served.
func (r *row) available() bool { return r.Status == attachment.StatusReady && r.DeletedAt == nil }

// publicType returns the media type of the version that others download. Copies of images that earlier versions made have no
// recorded type and are JPEG, like previews.
func (r *row) publicType() string {
	switch {
	case r.PublishedType != nil:
		return *r.PublishedType
	case *r.MediaType == pdf:
		return pdf
	default:
		return jpeg
	}
}

// publicSize returns the size in bytes of the version that others download, or of the original if the copy of a PDF is not made
// yet.
func (r *row) publicSize() int64 {
	switch {
	case r.PublishedSize != nil:
		return *r.PublishedSize
	case *r.MediaType == pdf:
		return r.Size
	default:
		return *r.PreviewSize
	}
}
