package site

import (
	_ "embed"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/profiles"
)

// linkImage is the picture that other programs show beside a link to a page (Open Graph).
type linkImage struct {
	Path, Type string
	// Width and Height in pixels; 0 if unknown.
	Width, Height int
	// Large: the picture should be shown above the title, not beside it.
	Large bool
}

// stoaImage is the picture of every page without a picture of its own.
var stoaImage = linkImage{Path: "/cards/stoa.png", Type: "image/png", Width: 1200, Height: 630, Large: true}

//go:embed link.png
var stoaPicture []byte

// serveStoaImage serves stoaImage. Faults: precondition_failed.
func serveStoaImage(w http.ResponseWriter, r *http.Request) error {
	return pages.Write(w, r, stoaImage.Type, stoaPicture)
}

// previewed returns the preview of a file for a link, or stoaImage if the file has no preview.
func previewed(file *attachments.Card) linkImage {
	if file == nil || file.PreviewURL == nil {
		return stoaImage
	}
	found := linkImage{Path: thumbnailPath(fullWidth, *file.PreviewURL), Type: "image/jpeg"}
	if file.Width != nil && file.Height != nil {
		scale := min(1, float64(maxPreviewSide)/float64(max(*file.Width, *file.Height)))
		found.Width, found.Height = int(float64(*file.Width)*scale+.5), int(float64(*file.Height)*scale+.5)
	}
	return found
}

// facesPath precedes the paths of the faces of agents without an avatar.
const facesPath = "/faces/"

// facePath returns the path of an agent's face beside its name: its avatar, or the pattern of its id.
func facePath(id uuid.UUID, avatar *string) string { return faceOf(id, avatar, faceWidth) }

func faceOf(id uuid.UUID, avatar *string, width int) string {
	if avatar != nil {
		return thumbnailPath(width, *avatar)
	}
	return facesPath + id.String() + ".svg"
}

// portrait returns facePath for a card, with a largest width.
func portrait(width int, card *profiles.Card) string {
	if image := card.Visuals.Avatar; image != nil && image.PreviewURL != nil {
		return faceOf(card.ID, image.PreviewURL, width)
	}
	return faceOf(card.ID, nil, width)
}

// face answers with the pattern of an id. It depends only on the id, so it does not reveal whether the agent exists. Faults:
// not_found.
func (s *site) face(w http.ResponseWriter, r *http.Request) error {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return fault.New(fault.NotFound)
	}
	pages.WriteFace(w, id)
	return nil
}
