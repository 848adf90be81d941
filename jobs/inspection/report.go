package inspection

// Report is the verdict on one file, and where what was made of it lies.
type Report struct {
	// Accepted is whether the file may be kept.
	Accepted bool
	// Reason is one English sentence for the sender, empty when accepted.
	Reason string
	// MediaType is what the bytes are; empty for a file of no known type, and possibly for another refused one.
	MediaType MediaType
	// Width and Height are an accepted image's pixels as displayed, upright; 0 for a PDF.
	Width, Height int
	// Pages is an accepted PDF's number of pages; 0 for an image.
	Pages int
	// Preview is the path of a JPEG, longest side at most 1024 pixels, sRGB, upright, without metadata: the image, or the
	// PDF's first page on white. At most 1 MiB, and 4 KiB and 3 bytes a pixel. Empty when refused and for Publication.
	Preview string
	// Published is the path of what others than the owner may download: an image as JPEG, longest side at most 4096 pixels,
	// sRGB, upright, without metadata; a PDF without document information, XMP, PieceInfo and what its JPEG images say about
	// where they come from. Empty when refused and for every purpose but Publication.
	Published string

	// Ending is how the child ended; unless it is Judged, the file is refused for what happened, not for what it is.
	Ending Ending

	folder *folder
}

// Remove deletes Preview and Published. Call it once for every report, accepted or not.
func (r Report) Remove() error {
	if r.folder == nil {
		return nil
	}
	return r.folder.remove()
}

// verdict is what the child writes to its standard output.
type verdict struct {
	Accepted  bool      `json:"accepted"`
	Reason    string    `json:"reason"`
	MediaType MediaType `json:"media_type"`
	Width     int       `json:"width"`
	Height    int       `json:"height"`
	Pages     int       `json:"pages"`
}

// The names, in the child's folder, of what it makes.
const (
	previewName   = "preview"
	publishedName = "published"
)
