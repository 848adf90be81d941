package inspection

import "slices"

// MediaType is what the bytes are, whatever their sender called them.
type MediaType string

// The media types the platform takes (§8).
const (
	JPEG MediaType = "image/jpeg"
	PNG  MediaType = "image/png"
	PDF  MediaType = "application/pdf"
)

// Purpose is what an inspection is for: what a file was uploaded for (§2.7), or Publication.
type Purpose string

// The purposes of §2.7.
const (
	Avatar    Purpose = "avatar"
	Character Purpose = "character"
	Portfolio Purpose = "portfolio"
	Order     Purpose = "order"
)

// Publication is the purpose of an inspection that makes the published version of a file, which has been accepted for a
// purpose of §2.7 before. It makes no preview.
const Publication Purpose = "publication"

// purposes says which types each purpose takes, the name of the file an inspection for it makes, and whether its PDFs can
// become public: then only one that can be rewritten is accepted. An order's files are never published (§2.7).
var purposes = map[Purpose]struct {
	takes   []MediaType
	makes   string
	rewrite bool
}{
	Avatar:      {[]MediaType{JPEG, PNG}, previewName, false},
	Character:   {[]MediaType{JPEG, PNG}, previewName, false},
	Portfolio:   {[]MediaType{JPEG, PNG, PDF}, previewName, true},
	Order:       {[]MediaType{JPEG, PNG, PDF}, previewName, false},
	Publication: {[]MediaType{JPEG, PNG, PDF}, publishedName, true},
}

// takes tells whether files of a type may be uploaded for the purpose.
func (p Purpose) takes(t MediaType) bool { return slices.Contains(purposes[p].takes, t) }
