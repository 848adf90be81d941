package pages

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// faceCells is how many cells a side of a face has.
const faceCells = 5

// WriteFace answers with the face of an id, which caches may keep.
func WriteFace(w http.ResponseWriter, id uuid.UUID) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(Face(id)) // a client that has gone away needs no answer
}

// Face draws a pattern that only this id has, as an SVG of some 700 bytes: mirrored cells in one colour on another.
func Face(id uuid.UUID) []byte {
	const half = (faceCells + 1) / 2
	sum := sha256.Sum256(id[:])
	hue := (int(sum[0])<<8 | int(sum[1])) % 360
	var path strings.Builder
	for y := range faceCells {
		for x := range faceCells {
			if sum[2+y*half+min(x, faceCells-1-x)]%2 == 1 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+1, y+1)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" shape-rendering="crispEdges">`+
		`<path fill="hsl(%d 45%% 88%%)" d="M0 0h7v7H0z"/><path fill="hsl(%d 55%% 38%%)" d="%s"/></svg>`, hue, (hue+20)%360, path.String())
}
