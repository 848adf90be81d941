package inspection

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// size is an image's pixels as stored, before orientation.
type size struct{ width, height int }

// check refuses an image without pixels, or with more than the platform takes.
func (s size) check() error {
	switch {
	case s.width <= 0 || s.height <= 0:
		return refusedMalformed
	case s.width > maxPixels/s.height:
		return refusedPixels
	}
	return nil
}

// JPEG markers (ISO/IEC 10918-1, table B.1).
const (
	markerStart   = 0xD8
	markerEnd     = 0xD9
	markerScan    = 0xDA
	markerRestart = 0xD0 // to 0xD7
	markerAPP2    = 0xE2
)

// frames maps the markers of frame headers to whether their coding is accepted: Huffman and arithmetic, sequential and
// progressive, but neither lossless nor hierarchical.
var frames = map[byte]bool{
	0xC0: true, 0xC1: true, 0xC2: true, 0xC9: true, 0xCA: true,
	0xC3: false, 0xC5: false, 0xC6: false, 0xC7: false, 0xCB: false, 0xCD: false, 0xCE: false, 0xCF: false,
}

var (
	jpegMagic = []byte{0xFF, markerStart, 0xFF}
	jpegEnd   = []byte{0xFF, markerEnd}
	mpfMagic  = []byte("MPF\x00")
)

// scanJPEG walks a JPEG's markers to the end of the file and returns the first picture. Only data that cameras and photo
// programs write may follow it (tail.go).
func scanJPEG(file []byte) (picture, error) {
	first, err := walkPicture(file)
	if err != nil {
		return picture{}, err
	}
	return first, checkTail(file[first.length:], first.several)
}

// picture is one JPEG from its start marker to its end marker.
type picture struct {
	size    size
	scans   int
	length  int
	several bool
}

// walkPicture walks one picture at the start of b.
func walkPicture(b []byte) (picture, error) {
	if !bytes.HasPrefix(b, jpegMagic) {
		return picture{}, refusedMalformed
	}
	p, at := picture{}, 2
	for {
		marker, body, next, err := segment(b, at)
		if err != nil {
			return p, err
		}
		at = next
		if marker == markerEnd {
			if p.scans == 0 {
				return p, refusedMalformed
			}
			p.length = at
			return p, nil
		}
		if err := p.take(marker, body); err != nil {
			return p, err
		}
		if marker == markerScan {
			at = skipScan(b, at)
		}
	}
}

// segment reads the marker segment at an offset: its marker, its body and where the next one starts.
func segment(b []byte, at int) (marker byte, body []byte, next int, err error) {
	if at >= len(b) {
		return 0, nil, 0, refusedCut
	}
	if b[at] != 0xFF {
		return 0, nil, 0, refusedMalformed
	}
	for at < len(b) && b[at] == 0xFF {
		at++
	}
	if at >= len(b) {
		return 0, nil, 0, refusedCut
	}
	marker = b[at]
	at++
	switch {
	case marker == markerEnd:
		return marker, nil, at, nil
	case marker < 0xC0 || marker >= markerRestart && marker <= markerStart:
		return 0, nil, 0, refusedMalformed
	case at+2 > len(b):
		return 0, nil, 0, refusedCut
	}
	length := int(binary.BigEndian.Uint16(b[at:]))
	switch {
	case length < 2:
		return 0, nil, 0, refusedMalformed
	case at+length > len(b):
		return 0, nil, 0, refusedCut
	}
	return marker, b[at+2 : at+length], at + length, nil
}

// take records the properties of the picture in a segment.
func (p *picture) take(marker byte, body []byte) error {
	taken, frame := frames[marker]
	switch {
	case frame && !taken:
		return refusedCoding
	case frame:
		if p.size != (size{}) || len(body) < 6 {
			return refusedMalformed
		}
		p.size = size{int(binary.BigEndian.Uint16(body[3:])), int(binary.BigEndian.Uint16(body[1:]))}
		return p.size.check()
	case marker == markerScan:
		if p.scans++; p.size == (size{}) || p.scans > maxScans {
			return refusedMalformed
		}
	case marker == markerAPP2 && bytes.HasPrefix(body, mpfMagic):
		p.several = true
	}
	return nil
}

// skipScan passes over entropy-coded data: up to the next marker that is neither a stuffed byte nor a restart.
func skipScan(b []byte, at int) int {
	for at < len(b) {
		found := bytes.IndexByte(b[at:], 0xFF)
		if found < 0 || at+found+1 >= len(b) {
			return len(b)
		}
		at += found
		switch next := b[at+1]; {
		case next == 0x00 || next >= markerRestart && next < markerStart:
			at += 2
		case next == 0xFF:
			at++
		default:
			return at
		}
	}
	return at
}

const (
	markerComment = 0xFE
	markerAPP0    = 0xE0
	markerAPP14   = 0xEE
	markerAPP15   = 0xEF
)

// neededSegments maps the application segments that decoding a JPEG may need to their first bytes. All others reveal a picture's
// origin: Exif and XMP (APP1), IPTC (APP13), provenance, thumbnails, notes of camera makers.
var neededSegments = map[byte][]byte{
	markerAPP0:  []byte("JFIF\x00"),
	markerAPP2:  []byte("ICC_PROFILE\x00"),
	markerAPP14: []byte("Adobe"),
}

// privateSigns begin the blocks that must not be left in a picture, whatever its structure.
var privateSigns = []string{"Exif\x00\x00", "http://ns.adobe.com/", "<x:xmpmeta", "Photoshop 3.0\x00"}

// maxStrips bounds how often a damaged picture is stripped; it is stripped until nothing changes.
const maxStrips = 4

// stripJPEG returns the first picture that begins in b without comments and application segments that decoding does not need,
// and its length in b; the coded data stay unchanged. Bytes before and after the picture are dropped. If the structure is
// damaged, it goes on with the next marker, as decoders do. It returns refusedMalformed if a private block is left.
func stripJPEG(b []byte) (clean []byte, length int, err error) {
	clean, length = stripOnce(b)
	for range maxStrips {
		again, _ := stripOnce(clean)
		if bytes.Equal(again, clean) {
			return clean, length, private(clean)
		}
		clean = again
	}
	return nil, 0, refusedMalformed
}

func stripOnce(b []byte) (clean []byte, length int) {
	begin := bytes.Index(b, jpegMagic)
	if begin < 0 {
		return b, len(b)
	}
	clean = append(make([]byte, 0, len(b)-begin), b[begin:begin+2]...)
	for at := begin + 2; at < len(b); {
		marker, body, next, err := segment(b, at)
		switch {
		case err != nil:
			next = skipScan(b, min(at+2, len(b)))
		case marker == markerScan:
			next = skipScan(b, next)
		}
		if err != nil || keeps(marker, body) {
			clean = append(clean, b[at:next]...)
		}
		at, length = next, next
		if err == nil && marker == markerEnd {
			break
		}
	}
	return clean, max(length, begin+2)
}

// keeps reports whether a segment is needed to decode the picture.
func keeps(marker byte, body []byte) bool {
	if marker == markerComment {
		return false
	}
	if marker < markerAPP0 || marker > markerAPP15 {
		return true
	}
	needed, known := neededSegments[marker]
	return known && bytes.HasPrefix(body, needed)
}

// private refuses bytes that hold a private block.
func private(b []byte) error {
	if slices.ContainsFunc(privateSigns, func(sign string) bool { return bytes.Contains(b, []byte(sign)) }) {
		return refusedMalformed
	}
	return nil
}
