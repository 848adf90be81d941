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
