package rest

import (
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

// headers gives every answer its request id and its defences; private until a handler says otherwise.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if id == "" || !requestIDPattern.MatchString(id) {
			id = uuid.NewString()
		}
		h := w.Header()
		h[requestIDHeader] = []string{id}
		h["X-Content-Type-Options"] = nosniff
		h["Cache-Control"] = noStore
		next.ServeHTTP(w, r.WithContext(&request{Context: r.Context(), id: id}))
	})
}

// Values that every answer has, shared by all: nothing changes the slices. Names are in their canonical form.
var (
	nosniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
)

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
