package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph/fault"
)

// byMethod serves one path: HEAD wherever GET is, OPTIONS everywhere, 405 with Allow for the rest.
func (s *server) byMethod(handlers map[string]http.Handler) http.Handler {
	if get, ok := handlers[http.MethodGet]; ok {
		handlers[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(handlers)), ", ") + ", " + http.MethodOptions
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := handlers[r.Method]; ok {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.fail(w, r, fault.New(fault.MethodNotAllowed))
	})
}

// byPath keeps the router from judging methods: it would answer those it does not know without a body and before the path.
func byPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		next.ServeHTTP(w, r)
	})
}

// plainPath answers 404 for paths that other servers would clean up: empty and dot segments.
func plainPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !plain(r.URL.Path) {
			r.URL.Path, r.URL.RawPath = "/", "/"
		}
		next.ServeHTTP(w, r)
	})
}

func plain(path string) bool {
	if strings.Contains(path, "//") {
		return false
	}
	for ahead := path; ; {
		at := strings.Index(ahead, "/.")
		if at < 0 {
			return true
		}
		ahead = ahead[at+1:]
		if segment, _, _ := strings.Cut(ahead, "/"); segment == "." || segment == ".." {
			return false
		}
	}
}
