package inspection

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// magics are the first bytes of each media type; nothing else determines the type.
var magics = map[MediaType][]byte{JPEG: jpegMagic, PNG: pngMagic, PDF: pdfMagic}

// inspection inspects files in the child.
type inspection struct{ Renderer }

// file inspects a file: our own scan first, then the libraries. It makes the files that the purpose asks for, the preview or the
// published version. A refusal is the file's fault; any other error is the machine's.
func (i inspection) file(file []byte, asked request) (Report, error) {
	r, err := sniff(file, asked.Purpose)
	switch {
	case err != nil:
		return r, err
	case r.MediaType == PDF:
		err = i.pdf(file, asked, &r)
	default:
		err = i.image(file, asked.Purpose, &r)
	}
	if err == nil && max(len(r.Preview), len(r.Published)) > maxWritten {
		err = refusedLimits
	}
	r.Accepted = err == nil
	return r, err
}

// sniff determines the type of a file and whether the purpose takes it.
func sniff(file []byte, p Purpose) (Report, error) {
	switch {
	case len(file) == 0:
		return Report{}, refusedEmpty
	case len(file) > maxFile:
		return Report{}, refusedSize
	}
	for media, magic := range magics {
		switch {
		case !bytes.HasPrefix(file, magic):
			continue
		case !p.takes(media):
			return Report{MediaType: media}, refusedPurpose
		case isArchive(file):
			return Report{MediaType: media}, refusedArchive
		}
		return Report{MediaType: media}, nil
	}
	return Report{}, refusedUnknown
}

// imageInfo holds the properties of an image that a scan finds.
type imageInfo struct {
	// size as stored, before orientation.
	size
	// picture is the part of the file that is rendered; bytes after the picture's end are left out.
	picture []byte
	// colours of a PNG without a profile; nil if the file does not describe them, or as sRGB.
	colours *Colours
}

// scans walk an image's structure, by media type.
var scans = map[MediaType]func([]byte) (imageInfo, error){
	JPEG: func(file []byte) (imageInfo, error) {
		found, err := scanJPEG(file)
		return imageInfo{size: found.size, picture: file[:found.length]}, err
	},
	PNG: scanPNG,
}

// image makes the files that the purpose asks for, which proves the whole image to be sound, and records an accepted image's
// size as displayed. If a JPEG's preview shows it at its full size, the preview is also the copy for others.
func (i inspection) image(file []byte, p Purpose, r *Report) error {
	found, err := scans[r.MediaType](file)
	if err != nil {
		return err
	}
	source := Source{File: found.picture, Type: r.MediaType, Colours: found.colours}
	var shown Rendered
	if purposes[p].preview {
		if shown, err = i.JPEG(source, previewSide, previewRoom); err != nil {
			return refusedUndecodable
		}
		r.Preview = shown.File
		if err := allowCopy(); err != nil {
			return err
		}
	}
	if purposes[p].published && !(purposes[p].preview && showsAll(r.MediaType, found.width, found.height)) {
		if r.MediaType == PNG {
			shown, err = i.PNG(source, publishedSide, maxWritten)
		} else {
			shown, err = i.JPEG(source, publishedSide, publishedRoom)
		}
		if err != nil {
			return refusedUndecodable
		}
		r.Published = shown.File
	}
	r.Width, r.Height = found.width, found.height
	if shown.Swapped {
		r.Width, r.Height = found.height, found.width
	}
	return nil
}

// showsAll reports whether the preview of an image shows as much as a copy would.
func showsAll(t MediaType, width, height int) bool {
	return t == JPEG && max(width, height) <= previewSide
}

// pdf makes the files that the purpose asks for and records an accepted PDF's number of pages. It must be possible to rewrite
// the file, whatever the purpose: a verdict does not depend on whether a file becomes public. A request for one page of an
// accepted file does not rewrite it again. A file that makes pdfcpu panic is refused.
func (i inspection) pdf(file []byte, asked request, r *Report) (err error) {
	reason := refusedMalformed
	defer func() {
		if recover() != nil {
			err = reason
		}
	}()
	if err := scanPDF(file); err != nil {
		return err
	}
	document, err := openPDF(file)
	if err != nil {
		return err
	}
	if err := document.check(); err != nil {
		return err
	}
	if r.Pages, err = document.pages(); err != nil {
		return err
	}
	makes := purposes[asked.Purpose]
	if makes.preview {
		shown, err := i.JPEG(Source{File: file, Type: PDF, Page: asked.Page}, previewSide, previewRoom)
		if err != nil {
			return refusedUndecodable
		}
		if r.Pages = max(r.Pages, shown.Pages); r.Pages > maxPages {
			return refusedPages
		}
		r.Preview = shown.File
	}
	if asked.Page > 0 {
		return nil
	}
	reason = refusedRewrite
	written, err := document.published()
	if makes.published {
		r.Published = written
	}
	return err
}

// MediaType is the type of the bytes; the sender's claim does not matter.
type MediaType string

// The media types the platform takes (§8).
const (
	JPEG MediaType = "image/jpeg"
	PNG  MediaType = "image/png"
	PDF  MediaType = "application/pdf"
)

// Purpose is the purpose of an inspection: the upload's (§2.7), or Publication.
type Purpose string

// The purposes of §2.7.
const (
	Avatar    Purpose = "avatar"
	Character Purpose = "character"
	Portfolio Purpose = "portfolio"
	Order     Purpose = "order"
)

// Publication makes only the published version of a file that an earlier version of this program accepted for a purpose of §2.7
// without making it.
const Publication Purpose = "publication"

// purposes maps each purpose to the types that it takes and the files that are made: files of orders never become public.
var purposes = map[Purpose]struct {
	takes              []MediaType
	preview, published bool
}{
	Avatar:      {[]MediaType{JPEG, PNG}, true, true},
	Character:   {[]MediaType{JPEG, PNG}, true, true},
	Portfolio:   {[]MediaType{JPEG, PNG, PDF}, true, true},
	Order:       {[]MediaType{JPEG, PNG, PDF}, true, false},
	Publication: {[]MediaType{JPEG, PNG, PDF}, false, true},
}

// takes reports whether files of a type may be uploaded for the purpose.
func (p Purpose) takes(t MediaType) bool { return slices.Contains(purposes[p].takes, t) }

// The end record of a ZIP (APPNOTE 4.3.16): its sign, its length without the comment at its end, and how many lengths that
// comment may have.
const (
	archiveEnd       = "PK\x05\x06"
	archiveEndLength = 22
	archiveComments  = 1 << 16
)

// isArchive finds the end record of a ZIP, which readers look for from the back. If its comment ends exactly at the end of the
// file, the file is an archive, whatever its first bytes.
func isArchive(file []byte) bool {
	for comment := range min(archiveComments, len(file)-archiveEndLength+1) {
		record := file[len(file)-archiveEndLength-comment:]
		if bytes.HasPrefix(record, []byte(archiveEnd)) && int(binary.LittleEndian.Uint16(record[archiveEndLength-2:])) == comment {
			return true
		}
	}
	return false
}

// Renderer makes the previews and copies of a file that passed the scan. Only package render implements it: it links libvips,
// which the server must not link, so the child's program passes it to Main.
type Renderer interface {
	// JPEG makes a JPEG on white, without metadata, of an image or a PDF's page: upright, in sRGB, no side longer than
	// longest. A graphic that would take more than room is encoded as a photograph.
	JPEG(s Source, longest int, room func(width, height int) int) (Rendered, error)
	// PNG makes a PNG without metadata of a PNG: upright, in sRGB, no side longer than longest, with all its colours. It has
	// fewer pixels if it would otherwise take more than room bytes, as noise does.
	PNG(s Source, longest, room int) (Rendered, error)
}

// Source is a file to render.
type Source struct {
	File []byte
	Type MediaType
	// Page of a PDF, from 1 on; 0 is the first, too.
	Page int
	// Colours of a PNG without a profile; nil if the file does not describe them, or as sRGB.
	Colours *Colours
}

// Rendered is the result of a Renderer.
type Rendered struct {
	File []byte
	// Swapped reports whether displaying the file exchanges its width and height.
	Swapped bool
	// Pages of a PDF, 1 for an image.
	Pages int
}

// previewRoom bounds a preview in bytes; an upload reserves as much for it.
func previewRoom(width, height int) int {
	const most, headers, perPixel = 1 << 20, 4 << 10, 3
	return min(most, headers+perPixel*width*height)
}

// publishedRoom bounds a published image in bytes, whatever its size in pixels.
func publishedRoom(int, int) int { return maxWritten }
