package pages

import (
	"crypto/sha256"
	"fmt"
	"image/color"
	"math"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// FaceCells is how many cells a side of the pattern of an id has.
const FaceCells = 5

// Pattern is the pattern of an id: mirrored cells in one colour on another.
type Pattern struct {
	// Cells are the coloured ones, by row and column.
	Cells [FaceCells][FaceCells]bool
	// hue is that of the ground in degrees.
	hue int
}

// Saturation and lightness of the ground and of the cells in percent, and the distance of their hues in degrees.
const groundSaturation, groundLightness, cellSaturation, cellLightness, hueDistance = 45, 88, 55, 38, 20

// NewPattern returns the pattern of an id.
func NewPattern(id uuid.UUID) Pattern {
	const half = (FaceCells + 1) / 2
	sum := sha256.Sum256(id[:])
	p := Pattern{hue: (int(sum[0])<<8 | int(sum[1])) % 360}
	for i := range FaceCells * half {
		x, y := i%half, i/half
		p.Cells[y][x] = sum[2+i]%2 == 1
		p.Cells[y][FaceCells-1-x] = p.Cells[y][x]
	}
	return p
}

// Colours returns those of the ground and of the cells.
func (p Pattern) Colours() (ground, cells color.RGBA) {
	return fromHSL(p.hue, groundSaturation, groundLightness), fromHSL((p.hue+hueDistance)%360, cellSaturation, cellLightness)
}

// fromHSL converts a hue in degrees, and a saturation and a lightness in percent.
func fromHSL(hue, saturation, lightness int) color.RGBA {
	s, l := float64(saturation)/100, float64(lightness)/100
	channel := func(n float64) uint8 {
		k := math.Mod(n+float64(hue)/30, 12)
		return uint8(math.Round(255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))))
	}
	return color.RGBA{channel(0), channel(8), channel(4), 255}
}

// WriteFace answers with the pattern of an id, which caches may keep.
func WriteFace(w http.ResponseWriter, id uuid.UUID) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(Face(id)) // a client that has gone away needs no answer
}

// Face draws the pattern of an id as an SVG of some 700 bytes.
func Face(id uuid.UUID) []byte {
	pattern := NewPattern(id)
	var path strings.Builder
	for y, row := range pattern.Cells {
		for x, coloured := range row {
			if coloured {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+1, y+1)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" shape-rendering="crispEdges">`+
		`<path fill="hsl(%d %d%% %d%%)" d="M0 0h7v7H0z"/><path fill="hsl(%d %d%% %d%%)" d="%s"/></svg>`,
		pattern.hue, groundSaturation, groundLightness, (pattern.hue+hueDistance)%360, cellSaturation, cellLightness, path.String())
}
