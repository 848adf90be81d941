package rest

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/web"
)

// observe counts, times and traces every request under the pattern of its route.
func (s *server) observe(next http.Handler) http.Handler {
	unmatched := s.Metrics.HTTP.Pattern(metrics.Unmatched)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, method := time.Now(), r.Method
		s.Metrics.HTTP.Began()
		r, finish := tracing.Request(s.Tracer, r)
		out := &observed{ResponseWriter: w}
		defer func() {
			route, pattern := "", unmatched
			if found := chi.RouteContext(r.Context()).RoutePatterns; len(found) > 0 {
				route, pattern = found[0], s.patterns[found[0]]
			}
			finish(route, out.status, w.Header().Get(web.RequestIDHeader))
			pattern.Done(method, out.status, time.Since(began))
			s.Metrics.HTTP.Ended()
		}()
		next.ServeHTTP(out, r)
	})
}

// countRefusals counts the limits that refused a request.
func (s *server) countRefusals(record *limits.Record) {
	for _, t := range record.Taken() {
		if !t.Allowed {
			s.Metrics.Limits.Refused(t.Limit.Name)
		}
	}
}

// observed notes the status of an answer.
type observed struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *observed) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Hijack implements http.Hijacker, for the event channel.
func (w *observed) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status = http.StatusSwitchingProtocols
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap gives http.ResponseController the server's own writer.
func (w *observed) Unwrap() http.ResponseWriter { return w.ResponseWriter }
