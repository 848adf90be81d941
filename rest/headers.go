package rest

import (
	"context"
	"net/http"
	"regexp"

	"github.com/google/uuid"

	"stoa/graph/fault"
)

const (
	requestIDHeader = "X-Request-Id"
	// maxHeader is the size in bytes of all header fields of one request.
	maxHeader = 16 << 10
)

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// notes are what the handlers in front of a route find out about its request.
type notes struct {
	requestID, address string
}

type notesKey struct{}

// notesOf returns the notes that headers began; empty ones for a request that did not come through it.
func notesOf(ctx context.Context) *notes {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		return n
	}
	return new(notes)
}

// headers gives every answer its request id and its defences; private until a handler says otherwise.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if id == "" || !requestIDPattern.MatchString(id) {
			id = uuid.NewString()
		}
		h := w.Header()
		h.Set(requestIDHeader, id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if s.Draining.Load() {
			h.Set("Connection", "close")
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), notesKey{}, &notes{requestID: id})))
	})
}

func requestID(ctx context.Context) string { return notesOf(ctx).requestID }

// headerSize refuses large headers with the error body; the HTTP server itself gives up only well above.
func (s *server) headerSize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := len(r.RequestURI)
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
