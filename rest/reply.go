package rest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

// reply writes a card.
func (s *server) reply(w http.ResponseWriter, r *http.Request, status int, answer any) {
	body, _ := bodies.Get().(*bytes.Buffer)
	defer release(body)
	if err := wire.Write(body, answer); err != nil {
		s.fail(w, r, err)
		return
	}
	web.WriteJSON(w, status, body.Bytes())
}

// bodies are buffers of answers, used again and again.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// largestBody is what a buffer may have grown to, in bytes, and still be kept.
const largestBody = 64 << 10

func release(body *bytes.Buffer) {
	if body.Cap() <= largestBody {
		body.Reset()
		bodies.Put(body)
	}
}

// fail writes the fault of err and logs what an operator must know of: what is unknown here, and what must never happen.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	s.Metrics.HTTP.Fault(known.Code)
	switch known.Code {
	case fault.InternalError, fault.LedgerConflict:
		s.log(r.Context(), slog.LevelError, "request failed", r, err)
	case fault.ServiceUnavailable, fault.RegistrationUnavailable:
		if r.Context().Err() == nil {
			s.log(r.Context(), slog.LevelWarn, "request refused", r, err)
		}
	}
	if err := web.WriteError(w, known); err != nil {
		s.log(r.Context(), slog.LevelError, "error body", r, err)
	}
}

func (s *server) log(ctx context.Context, level slog.Level, what string, r *http.Request, err error) {
	s.Logger.Log(ctx, level, what, "request_id", requestOf(ctx).id, "method", r.Method, "path", r.URL.Path, "error", err)
}

// recover turns a defect into internal_error.
func (s *server) recover(next http.Handler) http.Handler {
	return web.Recover(next, func(w http.ResponseWriter, r *http.Request, cause any) {
		s.Logger.ErrorContext(r.Context(), "panic", "request_id", requestOf(r.Context()).id, "cause", cause, "stack", string(debug.Stack()))
		s.fail(w, r, fault.New(fault.InternalError))
	})
}
