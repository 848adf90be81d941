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

// Purpose is what a file was uploaded for (§2.7).
type Purpose string

// The purposes of §2.7.
const (
	Avatar    Purpose = "avatar"
	Character Purpose = "character"
	Portfolio Purpose = "portfolio"
	Order     Purpose = "order"
)

// purposes says which types each purpose takes and whether its files can become public, and so need a published version.
// An order's files never do (§2.7).
var purposes = map[Purpose]struct {
	takes   []MediaType
	publish bool
}{
	Avatar:    {[]MediaType{JPEG, PNG}, true},
	Character: {[]MediaType{JPEG, PNG}, true},
	Portfolio: {[]MediaType{JPEG, PNG, PDF}, true},
	Order:     {[]MediaType{JPEG, PNG, PDF}, false},
}

// takes tells whether files of a type may be uploaded for the purpose.
func (p Purpose) takes(t MediaType) bool { return slices.Contains(purposes[p].takes, t) }
