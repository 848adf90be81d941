// Package web is what the listeners of agents and operators have in common: who a request comes from, its bearer token and request id,
// the headers of every answer, and the error body (§7).
//
// Where a proxy stands between client and server, it is believed if the connection comes from one of the trusted networks
// (STOA_TRUSTED_PROXIES). Nothing here keeps state; everything is safe for concurrent use.
package web

import (
	"net/http"
	"regexp"

	"github.com/google/uuid"
)

// RequestIDHeader names the header that carries a request's id, in its canonical form.
const RequestIDHeader = "X-Request-Id"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Values that every answer has, shared by all: nothing changes the slices.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// Headers gives an answer its request id, the client's own if it is well-formed, and the defences that a handler may lift: no
// guessing of its type, no caching. It returns the id.
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

// Recover calls failed with what a handler panicked with, on the stack of the panic, so that a defect becomes an answer instead of a cut connection.
// http.ErrAbortHandler passes: it cuts the connection on purpose.
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
