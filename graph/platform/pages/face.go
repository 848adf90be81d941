package pages

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// WriteFace answers with the pattern of an id, which caches may keep.
func WriteFace(w http.ResponseWriter, id uuid.UUID) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(Face(id)) // a client that has gone away needs no answer
}

// Face draws the pattern of an id: five by five cells, mirrored, in one colour on another. It is an SVG of some 700 bytes.
func Face(id uuid.UUID) []byte {
	const cells, half = 5, 3
	sum := sha256.Sum256(id[:])
	hue := (int(sum[0])<<8 | int(sum[1])) % 360
	var path strings.Builder
	for i := range cells * half {
		x, y := i%half, i/half
		if sum[2+i]%2 == 0 {
			continue
		}
		for _, column := range []int{x, cells - 1 - x} {
			fmt.Fprintf(&path, "M%d %dh1v1h-1z", column+1, y+1)
			if column == cells/2 {
				break
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" shape-rendering="crispEdges">`+
		`<path fill="hsl(%d 45%% 88%%)" d="M0 0h7v7H0z"/><path fill="hsl(%d 55%% 38%%)" d="%s"/></svg>`, hue, (hue+20)%360, path.String())
}
