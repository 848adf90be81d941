package inspection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
)

// magics are the first bytes of each media type; nothing else determines the type.
var magics = []struct {
	magic []byte
	media MediaType
}{
	{jpegMagic, JPEG},
	{pngMagic, PNG},
	{pdfMagic, PDF},
}

// inspection inspects files in the child.
type inspection struct{ Renderer }

// file inspects a file: our own scan first, then the libraries. It writes what the purpose makes, the preview or the published
// version, into the working folder. A refusal is the file's fault; any other error is the machine's.
func (i inspection) file(file []byte, asked request) (response, error) {
	p := asked.Purpose
	r, err := sniff(file, p)
	if err != nil {
		return r, err
	}
	if r.MediaType == PDF {
		r.Pages, err = i.pdf(file, asked)
	} else {
		r.Width, r.Height, err = i.image(file, r.MediaType, p)
	}
	r.Accepted = err == nil
	return r, err
}

// sniff decides what a file is and whether the purpose takes it.
func sniff(file []byte, p Purpose) (response, error) {
	switch {
	case len(file) == 0:
		return response{}, refusedEmpty
	case len(file) > maxFile:
		return response{}, refusedSize
	}
	for _, t := range magics {
		switch {
		case !bytes.HasPrefix(file, t.magic):
			continue
		case !p.takes(t.media):
			return response{MediaType: t.media}, refusedPurpose
		case isArchive(file):
			return response{MediaType: t.media}, refusedArchive
		}
		return response{MediaType: t.media}, nil
	}
	return response{}, refusedUnknown
}

// imageInfo holds the properties of an image that a scan finds.
type imageInfo struct {
	// size as stored, before orientation.
	size
	// picture is the part of the file that is rendered; bytes after the picture's end are left out.
	picture []byte
	// colours of a PNG without a profile; nil if it says nothing that counts.
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

// image makes what the purpose asks for, which proves the whole image to be sound, and returns an accepted image's size as displayed.
// Of a JPEG that the preview shows at its full size the preview is the copy for others, too.
func (i inspection) image(file []byte, t MediaType, p Purpose) (width, height int, err error) {
	found, err := scans[t](file)
	if err != nil {
		return 0, 0, err
	}
	source := Source{File: found.picture, Type: t, Colours: found.colours}
	var shown Rendered
	for n, made := range purposes[p].makes {
		switch {
		case made == previewName:
			shown, err = i.JPEG(source, previewSide, previewRoom)
		case n > 0 && showsAll(t, found.width, found.height):
			continue
		case t == PNG:
			shown, err = i.PNG(source, publishedSide)
		default:
			shown, err = i.JPEG(source, publishedSide, publishedRoom)
		}
		if err != nil {
			return 0, 0, refusedUndecodable
		}
		if err := errors.Join(write(made, shown.File), allowCopy(p)); err != nil {
			return 0, 0, err
		}
	}
	if shown.Swapped {
		found.width, found.height = found.height, found.width
	}
	return found.width, found.height, nil
}

// showsAll reports whether the preview of an image shows as much as a copy would.
func showsAll(t MediaType, width, height int) bool {
	return t == JPEG && max(width, height) <= previewSide
}

// pdf makes what the purpose asks for and returns an accepted PDF's number of pages. Whatever the purpose, the file must be one
// that can be rewritten: a verdict does not depend on whether a file becomes public. A request for one page of an accepted file does
// not rewrite it again.
func (i inspection) pdf(file []byte, asked request) (pages int, err error) {
	if err := scanPDF(file); err != nil {
		return 0, err
	}
	document, err := openPDF(file)
	if err != nil {
		return 0, err
	}
	if err := document.check(); err != nil {
		return 0, err
	}
	if pages, err = document.pages(); err != nil {
		return 0, err
	}
	makes := purposes[asked.Purpose].makes
	if slices.Contains(makes, previewName) {
		shown, err := i.JPEG(Source{File: file, Type: PDF, Page: asked.Page}, previewSide, previewRoom)
		if err != nil {
			return 0, refusedUndecodable
		}
		if pages = max(pages, shown.Pages); pages > maxPages {
			return 0, refusedPages
		}
		if err := write(previewName, shown.File); err != nil {
			return 0, err
		}
	}
	if asked.Page > 0 {
		return pages, nil
	}
	written, err := document.published()
	if err == nil && slices.Contains(makes, publishedName) {
		err = write(publishedName, written)
	}
	return pages, err
}

// write writes what was made of a file into the working folder.
func write(name string, content []byte) error {
	if len(content) > maxWritten {
		return refusedLimits
	}
	return os.WriteFile(name, content, 0o600)
}

// MediaType is the type of the bytes; the sender's claim does not matter.
type MediaType string

// The media types the platform takes (§8).
const (
	JPEG MediaType = "image/jpeg"
	PNG  MediaType = "image/png"
	PDF  MediaType = "application/pdf"
)

// Purpose is the purpose of an inspection: that of the upload (§2.7), or Publication.
type Purpose string

// The purposes of §2.7.
const (
	Avatar    Purpose = "avatar"
	Character Purpose = "character"
	Portfolio Purpose = "portfolio"
	Order     Purpose = "order"
)

// Publication is the purpose of an inspection that makes only the published version of a file, which an earlier version of this
// program has accepted for a purpose of §2.7 without making it.
const Publication Purpose = "publication"

// purposes says which types each purpose takes, and the names of the files that an inspection for it makes: files of orders never
// become public.
var purposes = map[Purpose]struct {
	takes []MediaType
	makes []string
}{
	Avatar:      {[]MediaType{JPEG, PNG}, []string{previewName, publishedName}},
	Character:   {[]MediaType{JPEG, PNG}, []string{previewName, publishedName}},
	Portfolio:   {[]MediaType{JPEG, PNG, PDF}, []string{previewName, publishedName}},
	Order:       {[]MediaType{JPEG, PNG, PDF}, []string{previewName}},
	Publication: {[]MediaType{JPEG, PNG, PDF}, []string{publishedName}},
}

// publishes reports whether the inspection makes a published version, for which it has copyTime.
func (p Purpose) publishes() bool { return slices.Contains(purposes[p].makes, publishedName) }

// takes reports whether files of a type may be uploaded for the purpose.
func (p Purpose) takes(t MediaType) bool { return slices.Contains(purposes[p].takes, t) }

// The end record of a ZIP (APPNOTE 4.3.16): its length without, and the greatest length of, the comment that ends it.
const (
	archiveEnd       = "PK\x05\x06"
	archiveEndLength = 22
	archiveComment   = 1<<16 - 1
)

// isArchive finds the end record of a ZIP, which readers look for from the back: one whose comment reaches exactly to the
// end of the file makes the file an archive, whatever it starts with.
func isArchive(file []byte) bool {
	tail := file[max(0, len(file)-archiveEndLength-archiveComment):]
	for end := len(tail); end > 0; {
		at := bytes.LastIndex(tail[:end], []byte(archiveEnd))
		if at < 0 {
			return false
		}
		if record := tail[at:]; len(record) >= archiveEndLength {
			comment := binary.LittleEndian.Uint16(record[archiveEndLength-2:])
			if len(record) == archiveEndLength+int(comment) {
				return true
			}
		}
		end = at
	}
	return false
}

// Renderer makes the previews and copies of a file that passed the scan. Package render is the only one: it links libvips, which
// the server must not, so the program that starts the child passes it to Main.
type Renderer interface {
	// JPEG makes a JPEG on white, without metadata, of an image or a PDF's page: upright, in sRGB, no side longer than
	// longest. A graphic that would take more than room is encoded as a photograph.
	JPEG(s Source, longest int, room func(width, height int) int) (Rendered, error)
	// PNG makes a PNG without metadata of a PNG: upright, in sRGB, no side longer than longest, with all its colours.
	PNG(s Source, longest int) (Rendered, error)
}

// Source is a file to render.
type Source struct {
	File []byte
	Type MediaType
	// Page of a PDF, from 1 on; 0 is the first, too.
	Page int
	// Colours of a PNG without a profile; nil if it says nothing that counts.
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

// previewRoom bounds a preview in bytes: what an upload reserves for it.
func previewRoom(width, height int) int {
	const most, headers, perPixel = 1 << 20, 4 << 10, 3
	return min(most, headers+perPixel*width*height)
}

// publishedRoom bounds a published image in bytes, whatever its size in pixels.
func publishedRoom(int, int) int { return maxWritten }
