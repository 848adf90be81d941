package attachments

import (
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"stoa/ent/attachment"
)

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
		media := r.publicType()
		c.MediaType, c.SizeBytes = &media, r.publicSize()
	}
	if c.Available {
		preview, download := PreviewURL(r.ID), URL(r.ID)+"/download"
		c.PreviewURL, c.DownloadURL = &preview, &download
	}
	return c
}
