package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/db"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/receipts"
)

// ratingsPath is the folder of the signed documents of ratings.
const ratingsPath = "/ratings/"

// ratingDocument serves the signed document of a rating, as a file for `stoa verify`, while the profiles of both participants are open.
func (s *site) ratingDocument(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	found, err := s.Graph.Receipts.PublicRating(ctx, receipts.RatingInput{RatingID: chi.URLParam(r, "id")})
	if err != nil {
		return missing(err)
	}
	raw, err := wire.Marshal(found)
	if err != nil {
		return err
	}
	return pages.Write(w, r, web.JSONType, raw)
}
