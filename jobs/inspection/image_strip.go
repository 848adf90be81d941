package inspection

import "bytes"

const (
	markerComment = 0xFE
	markerAPP0    = 0xE0
	markerAPP14   = 0xEE
	markerAPP15   = 0xEF
)

// neededSegments are the application segments that decoding a JPEG may need, by their first bytes. All others reveal a picture's
// origin: Exif and XMP (APP1), IPTC (APP13), provenance, thumbnails, notes of camera makers.
var neededSegments = map[byte][]byte{
	markerAPP0:  []byte("JFIF\x00"),
	markerAPP2:  []byte("ICC_PROFILE\x00"),
	markerAPP14: []byte("Adobe"),
}

// privateSigns begin the blocks that must not be left in a picture, whatever its structure.
var privateSigns = [][]byte{
	[]byte("Exif\x00\x00"), []byte("http://ns.adobe.com/"), []byte("<x:xmpmeta"), []byte("Photoshop 3.0\x00"),
}

// maxStrips is how often a damaged picture is stripped, until stripping changes nothing.
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
	for _, sign := range privateSigns {
		if bytes.Contains(b, sign) {
			return refusedMalformed
		}
	}
	return nil
}
