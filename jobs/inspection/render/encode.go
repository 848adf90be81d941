package render

import (
	"bytes"
	"image"

	"github.com/h2non/bimg"
	"golang.org/x/image/tiff"
)

// How a JPEG is encoded. Below quality 90 libvips keeps a quarter of the colour samples, by which photographs lose nothing
// visible; pixel art, drawings and screenshots do.
const (
	photoQuality   = 85
	graphicQuality = 95
	// smallSide is the longest side, in pixels, up to which a picture keeps all its colour samples whatever it shows.
	smallSide = 256
	// fewColours is the maximum number of distinct colours that make a picture a graphic.
	fewColours = 256
)

// encode makes a JPEG of a picture of this package, upright, as a photograph or a graphic. A graphic that takes more than its
// room in bytes is encoded as a photograph.
func encode(made []byte, orientation int, room func(width, height int) int) ([]byte, error) {
	m, err := tiff.Decode(bytes.NewReader(made))
	if err != nil {
		return nil, err
	}
	o := bimg.Options{Type: bimg.JPEG, NoProfile: true, Background: white, Quality: graphicQuality}
	turn(&o, orientation)
	size := m.Bounds().Size()
	if max(size.X, size.Y) <= smallSide || graphic(m) {
		encoded, err := process(made, o)
		if err != nil || len(encoded) <= room(size.X, size.Y) {
			return encoded, err
		}
	}
	o.Quality = photoQuality
	return process(made, o)
}

// graphic reports whether a picture is a drawing and not a photograph: it has few colours, or most pixels equal the pixel before.
func graphic(m image.Image) bool {
	pixels := pixelsOf(m)
	seen := make(map[[3]byte]struct{}, fewColours)
	var last [3]byte
	repeated := 0
	for at := 0; at+4 <= len(pixels); at += 4 {
		pixel := [3]byte(pixels[at:])
		if pixel == last && at > 0 {
			repeated++
			continue
		}
		last = pixel
		if len(seen) <= fewColours {
			seen[pixel] = struct{}{}
		}
	}
	return len(seen) <= fewColours || repeated > len(pixels)/4/2
}

// pixelsOf returns the pixels of a decoded picture of this package, four bytes each; none if it has only greys, which are few.
func pixelsOf(m image.Image) []byte {
	switch m := m.(type) {
	case *image.RGBA:
		return m.Pix
	case *image.NRGBA:
		return m.Pix
	}
	return nil
}
