// Package attachments implements files: uploads, their inspection, read rights, budgets, and the deletion of bytes (§2.7, §4.8,
// §8).
//
// An upload reserves its announced size before its first byte arrives, or reserves in steps if the size is not known (quota.go).
// So the stored bytes never exceed a budget. An upload that a budget refuses is read but not stored, since the faults of the form
// and the answer to a repeat come first (§1.6). The reservation is renewed while the upload is received and ends with it; when
// its process dies, Recover deletes the bytes and then the reservation.
//
// The record of an upload stays for ever. Its bytes are in the file store under the record's id and are deleted when no longer
// needed. The record replaces the reservation, in the transaction that asks for the inspection, and only when the bytes are
// durable. It is pending until the inspection makes it ready or rejected, which is final. A failing store or machine or a crashed
// inspection does not reject a file: after three attempts the record is deleted, and the same upload may be sent again.
//
// Budgets, places of uploads under way and inspection slots hold across processes. All are given out under one lock, the row of
// storage_usage that counts all agents; a trigger keeps the counts in step with the records. An inspection holds a lease that it
// renews (lease.go); when its process dies, the lease expires and Recover asks for the inspection again. While the database is
// unavailable, the result of an inspection is kept and written as soon as it is back.
//
// One statement (read_attachment) decides for each request who may read a file; knowing a URL grants no right.
//
// Everyone but the owner and an order's participants downloads a public copy, in the format of the original. The inspection of an
// upload that may become public makes it, so it counts towards the budgets from then on, and publishing does not wait. If a JPEG
// is no larger than its preview, the preview is the public copy.
package attachments

import (
	"embed"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

//go:embed attachments.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Store keeps the bytes.
	Store *Store
	// Enqueue asks for inspections.
	Enqueue db.Enqueue
	// InspectionWait is how long an upload waits for its inspection; 0 means the 30 s of §4.8.
	InspectionWait time.Duration
	// DrawPage draws pages of PDFs at the request of readers; nil in a process that cannot.
	DrawPage PageDrawer
	// ShutdownSoon is closed when requests must not wait any longer, because the process shuts down; nil for never.
	ShutdownSoon <-chan struct{}
}

// InspectJob asks for the inspection of one upload.
type InspectJob struct {
	AttachmentID uuid.UUID `json:"attachment_id"`
}

func (InspectJob) Kind() string { return "inspect" }

// Card is the record of a file (§2.7). Sizes are in bytes, width and height in pixels as displayed.
type Card struct {
	ID      uuid.UUID `json:"id"`
	Purpose string    `json:"purpose"`
	// Status is ready or rejected.
	Status string `json:"status"`
	// FileName and SHA256 are null for all but the owner and the two participants of the order that uses the file.
	FileName *string `json:"file_name"`
	// MediaType and SizeBytes describe the version that the reader may download.
	MediaType *string `json:"media_type"`
	SizeBytes int64   `json:"size_bytes"`
	SHA256    *string `json:"sha256"`
	Width     *int    `json:"width"`
	Height    *int    `json:"height"`
	// Pages is set for PDFs.
	Pages *int `json:"pages"`
	// Available is false, and the URLs are null, once the bytes are gone.
	Available   bool      `json:"available"`
	PreviewURL  *string   `json:"preview_url"`
	DownloadURL *string   `json:"download_url"`
	CreatedAt   time.Time `json:"created_at"`
}

// URL returns the path of a file's record under the origin.
func URL(id uuid.UUID) string { return "/api/v1/attachments/" + id.String() }

// PreviewURL returns the path of a file's preview under the origin.
func PreviewURL(id uuid.UUID) string { return URL(id) + "/preview" }

// newCard returns the record as a reader with these rights sees it.
func newCard(r *row, rights rights) *Card {
	c := &Card{
		ID: r.ID, Purpose: string(r.Purpose), Status: string(r.Status), MediaType: r.MediaType, SizeBytes: r.Size,
		Width: r.Width, Height: r.Height, Pages: r.Pages, Available: r.available(), CreatedAt: r.CreatedAt,
	}
	if rights.whole() {
		sum := hex.EncodeToString(r.SHA256)
		c.FileName, c.SHA256 = &r.FileName, &sum
	} else if r.Status == attachment.StatusReady {
		v := r.published()
		c.MediaType, c.SizeBytes = &v.media, v.size
	}
	if c.Available {
		preview, download := PreviewURL(r.ID), URL(r.ID)+"/download"
		c.PreviewURL, c.DownloadURL = &preview, &download
	}
	return c
}

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

// The uses: two of an agent, one of a post, three of an order.
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

// fieldOf maps each use to the field of requests that names its file or, with an index, its files.
var fieldOf = map[Use]string{
	AsAvatar:      "avatar_attachment_id",
	AsCharacter:   "character_attachment_id",
	OfPost:        "attachment_ids[%d]",
	AsOrderInput:  "input_attachment_ids[%d]",
	AsOrderDraft:  "attachment_ids[%d]",
	AsOrderResult: "result_attachment_ids[%d]",
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
