package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/fault"
)

// byMethod serves one path: HEAD wherever GET is, OPTIONS everywhere, 405 with Allow for the rest. preflight adds to OPTIONS what a
// browser may do.
func (s *server) byMethod(handlers map[string]http.Handler, preflight func(http.Handler) http.Handler) http.Handler {
	if get, ok := handlers[http.MethodGet]; ok {
		handlers[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(handlers)), ", ") + ", " + http.MethodOptions
	options := preflight(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := handlers[r.Method]; ok {
			handler.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodOptions {
			options.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", allow)
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
