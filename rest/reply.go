package rest

import (
	"bytes"
	"net/http"
	"runtime/debug"
	"sync"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/rest/owner"
	"stoa/rest/site"
)

// reply writes an answer as JSON.
func (s *server) reply(w http.ResponseWriter, r *http.Request, status int, answer any) {
	body, _ := buffers.Get().(*bytes.Buffer)
	defer putBuffer(body)
	if err := wire.Write(body, answer); err != nil {
		s.fail(w, r, err)
		return
	}
	web.WriteJSON(w, status, body.Bytes())
}

// buffers hold answers while they are written.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKeptBuffer is the capacity, in bytes, up to which a buffer is kept for another answer.
const maxKeptBuffer = 64 << 10

func putBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxKeptBuffer {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// fail writes the fault of err, for people as a page, and logs it where an operator must know of it.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	s.Metrics.HTTP.Fault(known.Code)
	ctx, id := r.Context(), requestOf(r.Context()).id
	web.LogFault(ctx, s.Logger, known, err, "request_id", id, "method", r.Method, "path", loggedPath(r))
	web.RefusalHeaders(w.Header(), r, known, requestOf(r.Context()).accepted)
	if owner.Under(r.URL.Path) {
		owner.WriteError(w, known)
		return
	}
	writeError := func() error { return web.WriteError(w, known) }
	if forPeople(r.URL.Path) {
		writeError = func() error { return site.WriteError(w, r, known, s.hasSite()) }
	}
	if err := writeError(); err != nil {
		s.Logger.ErrorContext(ctx, "error body", "request_id", id, "method", r.Method, "path", loggedPath(r), "error", err)
	}
}

// recover turns a panic into internal_error.
func (s *server) recover(next http.Handler) http.Handler {
	return web.Recover(next, func(w http.ResponseWriter, r *http.Request, cause any) {
		s.Logger.ErrorContext(r.Context(), "panic", "request_id", requestOf(r.Context()).id, "cause", cause, "stack", string(debug.Stack()))
		s.fail(w, r, fault.New(fault.InternalError))
	})
}
