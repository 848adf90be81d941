package rest

import (
	"cmp"
	"net/http"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/db"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
	"stoa/rest/owner"
	"stoa/rest/site"
)

// anonymous serves a handler that needs no token: the caller has only an address, and tokens are ignored. A body is a form.
func (s *server) anonymous(handler func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := requestOf(r.Context())
		asked.caller, asked.accepted = viewer.Viewer{Address: asked.address}, owner.FormType
		if err := handler(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// ownerPages adds the pages for the owners of agents. They accept only the token of the link.
func (s *server) ownerPages(paths map[string]map[string]http.Handler) {
	for path, byMethod := range owner.Handlers(s.Graph.Owners, s.Graph.Exports, s.Graph.Lifecycle, sendFile) {
		for method, handler := range byMethod {
			s.add(paths, path, method, s.anonymous(handler), http.StatusOK)
		}
	}
}

// loggedPath returns a request's path for logs: the path of an owner page ends with a secret, so logs get the pattern of its
// route.
func loggedPath(r *http.Request) string {
	if !owner.Under(r.URL.Path) {
		return r.URL.Path
	}
	if found := chi.RouteContext(r.Context()).RoutePatterns; len(found) > 0 {
		return found[0]
	}
	return "/owner/*"
}

// forPeople reports whether answers at a path, failures included, are pages of the public site.
func forPeople(path string) bool {
	return site.Under(path) && path != pages.StylesheetPath && path != pages.IconPath && path != pages.PicturePath
}

// hasSite reports whether this process serves the public site.
func (s *server) hasSite() bool { return s.Graph != nil && !s.NoSite }

// sitePages adds the public site, or the one page that replaces it.
func (s *server) sitePages(paths map[string]map[string]http.Handler) {
	origin := cmp.Or(s.Origin, localOrigin)
	handlers := map[string]site.Handler{"/": site.Closed(origin)}
	if s.hasSite() {
		handlers = site.Handlers(site.Config{Graph: s.Graph, Origin: origin})
	}
	for path, handler := range handlers {
		s.add(paths, path, http.MethodGet, s.anonymous(func(w http.ResponseWriter, r *http.Request) error {
			ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
			defer cancel()
			return handler(w, r.WithContext(ctx))
		}), http.StatusOK)
	}
}
