package rest

import (
	"net/http"

	"stoa/graph/platform/web"

	"github.com/go-chi/cors"
)

// crossOrigin returns what tells browsers about a request, and what tells them about a preflight once its path is known: a path that
// does not exist allows nothing. Without allowed origins neither does anything.
func (c Config) crossOrigin() (requests, preflights func(http.Handler) http.Handler) {
	if len(c.AllowedOrigins) == 0 {
		same := func(next http.Handler) http.Handler { return next }
		return same, same
	}
	preflights = cors.Handler(cors.Options{
		AllowedOrigins: c.AllowedOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{
			"Authorization", "Content-Type", "If-Match", "If-None-Match", "If-Range", "Range", web.RequestIDHeader,
		},
		ExposedHeaders: []string{
			"Content-Disposition", "Content-Range", "ETag", "RateLimit", "RateLimit-Policy", "Retry-After", web.RequestIDHeader,
		},
		// A preflight is an OPTIONS like any other: 204 with Allow.
		OptionsPassthrough: true,
	})
	requests = func(next http.Handler) http.Handler {
		told := preflights(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				next.ServeHTTP(w, r)
				return
			}
			told.ServeHTTP(w, r)
		})
	}
	return requests, preflights
}
