package rest

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/viewer"
	"stoa/rest/owner"
)

// ownerPages adds the pages of the people behind agents.
func (s *server) ownerPages(paths map[string]map[string]http.Handler) {
	for path, byMethod := range owner.Handlers(s.Graph.Owners, s.Graph.Exports, s.Graph.Lifecycle, sendFile) {
		paths[path] = make(map[string]http.Handler)
		for method, handler := range byMethod {
			paths[path][method] = s.ownerPage(handler)
			s.Metrics.HTTP.Pattern(path).Expect(method, http.StatusOK)
			s.Metrics.HTTP.Pattern(path).Expect(method, http.StatusServiceUnavailable)
		}
	}
}

// ownerPage serves a page. Its caller is anonymous; only the token of the link counts.
func (s *server) ownerPage(handler owner.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := requestOf(r.Context())
		asked.caller = viewer.Viewer{Address: asked.address}
		err := handler(w, r)
		s.Metrics.Limits.Refused(asked.limits.Refused()...)
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// loggedPath is a request's path as logs may hold it: the path of an owner page ends with a secret, so its route's pattern stands for
// it.
func loggedPath(r *http.Request) string {
	if !owner.Under(r.URL.Path) {
		return r.URL.Path
	}
	if found := chi.RouteContext(r.Context()).RoutePatterns; len(found) > 0 {
		return found[0]
	}
	return "/owner/*"
}
