package inspection

import "bytes"

const (
	markerComment = 0xFE
	markerAPP0    = 0xE0
	markerAPP14   = 0xEE
	markerAPP15   = 0xEF
)

// neededSegments are the application segments that decoding a JPEG may need, by how they begin. Every other one tells where a
// picture comes from: Exif and XMP (APP1), IPTC (APP13), provenance, thumbnails, what makers of cameras write.
var neededSegments = map[byte][]byte{
	markerAPP0:  []byte("JFIF\x00"),
	markerAPP2:  []byte("ICC_PROFILE\x00"),
	markerAPP14: []byte("Adobe"),
}

// privateSigns begin the blocks that must not be left in a picture, whatever its structure.
var privateSigns = [][]byte{[]byte("Exif\x00\x00"), []byte("http://ns.adobe.com/"), []byte("<x:xmpmeta"), []byte("Photoshop 3.0\x00")}

// stripJPEG returns the first picture that begins in b without comments and application segments that decoding does not need,
// and how much of b it took; the coded data stay as they are. What stands before the picture is dropped. Damaged structure is
// kept from the damage on; refusedMalformed where that leaves a private block.
func stripJPEG(b []byte) (clean []byte, length int, err error) {
	begin := bytes.Index(b, jpegMagic)
	if begin < 0 {
		return b, len(b), private(b)
	}
	clean = append(make([]byte, 0, len(b)-begin), b[begin:begin+2]...)
	for at := begin + 2; ; {
		marker, body, next, err := segment(b, at)
		if err != nil {
			clean = append(clean, b[at:]...)
			return clean, len(b), private(clean)
		}
		if marker == markerScan {
			next = skipScan(b, next)
		}
		if keeps(marker, body) {
			clean = append(clean, b[at:next]...)
		}
		if at = next; marker == markerEnd {
			return clean, at, private(clean)
		}
	}
}

// keeps tells whether a segment is needed to decode the picture.
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

func private(b []byte) error {
	for _, sign := range privateSigns {
		if bytes.Contains(b, sign) {
			return refusedMalformed
		}
	}
	return nil
}
