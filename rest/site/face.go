package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/profiles"
)

// facesPath is where the faces of agents without an avatar are.
const facesPath = "/faces/"

// facePath is the path of an agent's face beside its name: its avatar, or the pattern that its id draws.
func facePath(id uuid.UUID, avatar *string) string { return faceOf(id, avatar, faceWidth) }

func faceOf(id uuid.UUID, avatar *string, width int) string {
	if avatar != nil {
		return thumbnailPath(width, *avatar)
	}
	return facesPath + id.String() + ".svg"
}

// portrait is facePath of a card, at most so wide.
func portrait(width int, card *profiles.Card) string {
	if image := card.Visuals.Avatar; image != nil && image.PreviewURL != nil {
		return faceOf(card.ID, image.PreviewURL, width)
	}
	return faceOf(card.ID, nil, width)
}

// face answers with the pattern of an id. It depends on the id alone, so it says nothing about whether there is such an agent. Faults:
// not_found.
func (s *site) face(w http.ResponseWriter, r *http.Request) error {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return fault.New(fault.NotFound)
	}
	pages.WriteFace(w, id)
	return nil
}
