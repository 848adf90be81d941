// Package web holds the code that the listeners of agents and operators share: the client's address, the bearer token and the
// request id, the reading of a body, the headers of every answer, and the error body (§7).
//
// A proxy's word about the client counts if the connection comes from one of the trusted networks (STOA_TRUSTED_PROXIES). Nothing here
// keeps state; everything is safe for concurrent use.
package web

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// ReplayedHeader names the header that marks a stored answer which is given again (§1.7).
const ReplayedHeader = "Idempotent-Replayed"

// BoundHeader names the header that marks the answer to a repeated upload whose file is in use (§4.8).
const BoundHeader = "Attachment-Bound"

// RequestIDHeader names the header that carries a request's id, in its canonical form.
const RequestIDHeader = "X-Request-Id"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Values that every answer has, shared by all: nothing changes the slices.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// Headers gives an answer its request id, the client's own if it is well-formed, and the security headers that a handler may replace:
// no guessing of its type, no caching. It returns the id. r is nil if there is no request.
func Headers(h http.Header, r *http.Request) (id string) {
	if r != nil {
		id = r.Header.Get(RequestIDHeader)
	}
	if id == "" || !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	h[RequestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	return id
}

// Recover calls failed with the value that a handler panicked with, on the stack of the panic, so that a defect becomes an answer
// instead of a cut connection. http.ErrAbortHandler passes: it cuts the connection on purpose.
func Recover(next http.Handler, failed func(w http.ResponseWriter, r *http.Request, cause any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				failed(w, r, cause)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// Bearer takes the token out of the one Authorization header (§5); the scheme's case does not matter.
func Bearer(header http.Header) (string, bool) {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
