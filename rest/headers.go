package rest

import (
	"net/http"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// maxHeader is the size in bytes of all header fields of one request.
const maxHeader = 16 << 10

// headers gives every answer its request id and its defences; private until a handler says otherwise.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := web.Headers(w.Header(), r)
		next.ServeHTTP(w, r.WithContext(&request{Context: r.Context(), id: id}))
	})
}

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
