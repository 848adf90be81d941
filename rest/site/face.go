package site

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/profiles"
)

// facesPath is where the faces of agents without an avatar are.
const facesPath = "/faces/"

// facePath is the path of an agent's face: its avatar, or the pattern that its id draws.
func facePath(id uuid.UUID, avatar *string) string {
	if avatar != nil {
		return *avatar
	}
	return facesPath + id.String() + ".svg"
}

// portrait is facePath of a card.
func portrait(card *profiles.Card) string {
	if image := card.Visuals.Avatar; image != nil && image.PreviewURL != nil {
		return *image.PreviewURL
	}
	return facePath(card.ID, nil)
}

// face draws the pattern of an id: five by five cells, mirrored, in one colour on another. It depends on the id alone, so it says
// nothing about whether there is such an agent, and caches may keep it. Faults: not_found.
func (s *site) face(w http.ResponseWriter, r *http.Request) error {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return fault.New(fault.NotFound)
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(drawFace(id)) // a client that has gone away needs no answer
	return nil
}

// drawFace returns an SVG of some 700 bytes.
func drawFace(id uuid.UUID) []byte {
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
