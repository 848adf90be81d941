package rest

import (
	"cmp"
	"net/http"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
	"stoa/rest/site"
)

// forPeople reports whether answers at a path, failures included, are pages of the public site.
func forPeople(path string) bool {
	return site.Under(path) && path != pages.StylesheetPath && path != pages.IconPath && path != pages.PicturePath
}

// hasSite reports whether this process serves the public site.
func (s *server) hasSite() bool { return s.Graph != nil && !s.NoSite }

// sitePages adds the public site, or the one page that stands for it.
func (s *server) sitePages(paths map[string]map[string]http.Handler) {
	origin := cmp.Or(s.Origin, localOrigin)
	handlers := map[string]site.Handler{"/": site.Closed(origin)}
	if s.hasSite() {
		handlers = site.Handlers(site.Config{Graph: s.Graph, Origin: origin})
	}
	for path, handler := range handlers {
		paths[path] = map[string]http.Handler{http.MethodGet: s.sitePage(handler)}
		s.Metrics.HTTP.Pattern(path).Expect(http.MethodGet, http.StatusOK)
		s.Metrics.HTTP.Pattern(path).Expect(http.MethodGet, http.StatusServiceUnavailable)
	}
}

// sitePage serves a page. Its caller is anonymous; tokens are ignored.
func (s *server) sitePage(handler site.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := requestOf(r.Context())
		asked.caller = viewer.Viewer{Address: asked.address}
		err := handler(limitedWriter{w, &asked.limits}, r)
		s.Metrics.Limits.Refused(asked.limits.Refused()...)
		if err != nil {
			asked.limits.Headers(w.Header())
			s.fail(w, r, err)
		}
	})
}

// limitedWriter adds what is left of the limits that the request has met when the answer begins.
type limitedWriter struct {
	http.ResponseWriter

	met *limits.Record
}

// WriteHeader implements http.ResponseWriter.
func (w limitedWriter) WriteHeader(status int) {
	w.met.Headers(w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w limitedWriter) Write(p []byte) (int, error) {
	w.met.Headers(w.Header())
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController the server's own writer.
func (w limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
