package inspection

import "encoding/binary"

// How a JPEG is encoded. Photographs lose nothing visible with a quarter of their colour samples; pixel art, drawings and
// screenshots do.
const (
	photoQuality   = 85
	graphicQuality = 95
	// smallSide is the longest side, in pixels, up to which a picture keeps all its colour samples whatever it shows.
	smallSide = 256
	// fewColours is up to how many distinct colours make a picture a graphic.
	fewColours = 256
)

// previewRoom bounds a preview in bytes: what an upload reserves for it.
func previewRoom(width, height int) int {
	const most, headers, perPixel = 1 << 20, 4 << 10, 3
	return min(most, headers+perPixel*width*height)
}

// jpeg encodes the picture as what it is, photograph or graphic. A graphic that takes more than room bytes is encoded as a
// photograph.
func (r raster) jpeg(room int) ([]byte, error) {
	if max(r.width, r.height) <= smallSide || r.graphic() {
		encoded, err := r.encode(graphicQuality, true)
		if err != nil || len(encoded) <= room {
			return encoded, err
		}
	}
	return r.encode(photoQuality, false)
}

// graphic tells whether the picture is drawn and not taken: it has few colours, or most of its pixels are like the one before.
func (r raster) graphic() bool {
	seen := make(map[uint32]struct{}, fewColours)
	last, repeated := uint32(1<<24), 0
	for at := 0; at+3 <= len(r.pixels); at += 3 {
		pixel := uint32(r.pixels[at])<<16 | uint32(binary.BigEndian.Uint16(r.pixels[at+1:]))
		if pixel == last {
			repeated++
			continue
		}
		last = pixel
		if len(seen) <= fewColours {
			seen[pixel] = struct{}{}
		}
	}
	return len(seen) <= fewColours || repeated > len(r.pixels)/3/2
}
