package rest

import (
	"bufio"
	"cmp"
	"maps"
	"net"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/web"
	"stoa/rest/mcp"
	"stoa/rest/owner"
	"stoa/rest/site"
)

// maxHeader is the size in bytes of all header fields of one request, its path included.
const maxHeader = bounds.Header

// statusLeft counts requests whose client hung up before the answer, so that no client can make the server look unavailable.
const statusLeft = 499

// begin makes the context of a request, gives its answer the request id and the security headers, and counts, times and traces it
// under the pattern of its route. Answers are private until a handler changes that. Answers for people get the headers of pages.
func (s *server) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, method := time.Now(), r.Method
		s.Metrics.InFlight.Add(1)
		r, finish := tracing.Request(s.Tracer, r)
		asked := &request{Context: r.Context(), id: web.Headers(w.Header(), r), address: web.ClientAddress(r, s.TrustedProxies)}
		switch path := r.URL.Path; {
		case owner.Under(path):
			owner.SetHeaders(w.Header())
		case forPeople(path):
			site.SetHeaders(w.Header())
		}
		to := &recorder{ResponseWriter: w, limits: &asked.limits}
		defer func() {
			route, status := "", cmp.Or(to.status, http.StatusOK) // a handler may do nothing
			if status == http.StatusServiceUnavailable && web.Left(r.Context()) {
				status = statusLeft
			}
			if found := chi.RouteContext(asked).RoutePatterns; len(found) > 0 {
				route = found[0]
			}
			finish(route, status, w.Header().Get(web.RequestIDHeader))
			s.Metrics.HTTP.Done(time.Since(began), cmp.Or(route, metrics.Unmatched), methodLabel(method), strconv.Itoa(status))
			s.Metrics.InFlight.Add(-1)
		}()
		next.ServeHTTP(to, r.WithContext(asked))
	})
}

// methodLabel returns the method if a route has it, since clients can invent others.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}

// recorder remembers the status of an answer, and adds the headers of the limits that counted the request (§1.8).
type recorder struct {
	http.ResponseWriter
	limits *limits.Record
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.limits.Headers(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Hijack implements http.Hijacker, for event sockets.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status = http.StatusSwitchingProtocols
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap gives http.ResponseController the server's own writer.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limitHeaderSize refuses large headers with the error body; the limit of the HTTP server itself is much higher.
func (s *server) limitHeaderSize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := len(r.RequestURI) + len("Host: \r\n") + len(r.Host)
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value) + len(": \r\n")
			}
		}
		if size > maxHeader {
			s.fail(w, r, fault.New(fault.HeaderFieldsTooLarge))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limitAddresses refuses requests above RequestsPerAddressPerSecond of a client's address, which is the connection's address, or
// the address that a trusted proxy forwards.
func (s *server) limitAddresses(next http.Handler) http.Handler {
	window := limits.NewWindow(s.RequestsPerAddressPerSecond, time.Second)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if window.Add(requestOf(r.Context()).address) > s.RequestsPerAddressPerSecond {
			s.Metrics.Limits.Count(metrics.RequestsPerAddress)
			s.fail(w, r, fault.New(fault.RateLimited).After(time.Second))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// normalizePath sets the path that the router compares: a percent-encoded unreserved character, or @, means the character
// (RFC 3986 §6.2.2.2; no path here distinguishes the two forms of @). A path with empty or dot segments becomes one that does not
// exist; other servers would clean it up.
func normalizePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case hasEmptyOrDotSegment(r.URL.Path):
			r.URL.Path, r.URL.RawPath = nowhere(r.URL.Path), ""
		case r.URL.RawPath != "":
			r.URL.RawPath = decodePlain(r.URL.RawPath)
		}
		next.ServeHTTP(w, r)
	})
}

// nowhere returns a path that does not exist and whose failures look the same as at the cleaned path.
func nowhere(dirty string) string {
	switch clean := path.Clean(dirty); {
	case owner.Under(clean):
		return "/owner/."
	case forPeople(clean):
		return "/."
	default:
		return "/api/."
	}
}

// hasEmptyOrDotSegment reports whether a path has an empty or dot segment. A slash at the end is no empty segment.
func hasEmptyOrDotSegment(sent string) bool {
	plain := strings.TrimSuffix(sent, "/")
	return strings.Contains(sent, "//") || plain != "" && path.Clean(plain) != plain
}

// escape matches a percent-encoded unreserved character, or @.
var escape = regexp.MustCompile(`(?i)%(2[DE]|3[0-9]|4[0-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])`)

// decodePlain decodes unreserved characters and @ in a valid encoded path and keeps all other escapes.
func decodePlain(encoded string) string {
	return escape.ReplaceAllStringFunc(encoded, func(found string) string {
		c, _ := strconv.ParseUint(found[1:], 16, 8) // two digits
		return string(rune(c))
	})
}

// ignoreMethod makes the router match only paths: chi would answer unknown methods without a body and before it checks the path.
func ignoreMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		next.ServeHTTP(w, r)
	})
}

// preflightAge is the time in seconds for which a browser may keep the answer to a preflight.
const preflightAge = 600

// fromAnywhere adds the CORS headers of a description, which pages of any origin may read, to preflights.
var fromAnywhere = cors.Handler(cors.Options{
	AllowedOrigins:     []string{"*"},
	AllowedMethods:     []string{http.MethodGet, http.MethodHead},
	AllowedHeaders:     []string{"If-Match", "If-None-Match", "If-Unmodified-Since", web.RequestIDHeader},
	OptionsPassthrough: true,
	MaxAge:             preflightAge,
})

// crossOrigin returns the middleware for CORS headers of requests and of preflights. preflights runs after the path is found, so
// a path that does not exist allows nothing. Without allowed origins both do nothing.
func (c Config) crossOrigin() (requests, preflights func(http.Handler) http.Handler) {
	if len(c.AllowedOrigins) == 0 {
		same := func(next http.Handler) http.Handler { return next }
		return same, same
	}
	preflights = cors.Handler(cors.Options{
		AllowedOrigins: c.AllowedOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: append([]string{
			"Authorization", "Content-Type", "If-Match", "If-None-Match", "If-Range", "If-Unmodified-Since", "Last-Event-ID", "Range",
			web.RequestIDHeader,
		}, mcp.RequestHeaders...),
		ExposedHeaders: []string{
			"Accept-Patch", web.BoundHeader, "Content-Disposition", "Content-Range", "ETag", "Location", listenersHeader, web.ReplayedHeader,
			"RateLimit", "RateLimit-Policy", "Retry-After", ignoredHeader, web.RequestIDHeader,
		},
		// A preflight is an OPTIONS like any other: 204 with Allow.
		OptionsPassthrough: true,
		MaxAge:             preflightAge,
	})
	requests = func(next http.Handler) http.Handler {
		withHeaders := preflights(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				next.ServeHTTP(w, r)
				return
			}
			withHeaders.ServeHTTP(w, r)
		})
	}
	return requests, preflights
}

// dispatch serves one path by method: HEAD if there is a GET, OPTIONS always, and 405 with Allow for other methods. preflight
// adds the CORS headers to OPTIONS.
func (s *server) dispatch(byMethod map[string]http.Handler, preflight func(http.Handler) http.Handler) http.Handler {
	if get, ok := byMethod[http.MethodGet]; ok {
		byMethod[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(byMethod)), ", ") + ", " + http.MethodOptions
	_, changes := byMethod[http.MethodPatch]
	_, posts := byMethod[http.MethodPost]
	_, puts := byMethod[http.MethodPut]
	options := preflight(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Allow", allow)
		if changes {
			h.Set("Accept-Patch", web.JSONType)
		}
		if changes || posts || puts {
			h.Set("Accept-Encoding", "identity") // of request bodies (RFC 7694)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := byMethod[r.Method]; ok {
			handler.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodOptions {
			options.ServeHTTP(w, r)
			return
		}
		s.fail(w, r, web.NotAllowed(w.Header(), allow))
	})
}
