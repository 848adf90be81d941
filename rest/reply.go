package rest

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"

	"stoa/graph/fault"
	"stoa/graph/wire"
)

// errorBody is the body of every failure (§7).
type errorBody struct {
	Error struct {
		Code    fault.Code        `json:"code"`
		Message string            `json:"message"`
		Fields  map[string]string `json:"fields,omitempty"`
	} `json:"error"`
}

// reply writes a card.
func (s *server) reply(w http.ResponseWriter, r *http.Request, status int, answer any) {
	body, _ := bodies.Get().(*bytes.Buffer)
	defer release(body)
	if err := wire.Write(body, answer); err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, status, body.Bytes())
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
	if err := Refuse(w, known); err != nil {
		s.log(r.Context(), slog.LevelError, "error body", r, err)
	}
}

// Refuse writes a fault as the error body of §7 with its status and headers. The error says that the fault holds what JSON cannot
// say; the answer then has no body. Handlers that New mounts call it too, so that their failures look the same.
func Refuse(w http.ResponseWriter, known *fault.Error) error {
	var answer errorBody
	answer.Error.Code, answer.Error.Message, answer.Error.Fields = known.Code, known.Text(), known.Fields
	if wait := known.Retry(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if known.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	raw, err := wire.Marshal(answer)
	write(w, known.Status(), raw)
	return err
}

func write(w http.ResponseWriter, status int, raw []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(raw))}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}

func (s *server) log(ctx context.Context, level slog.Level, what string, r *http.Request, err error) {
	s.Logger.Log(ctx, level, what, "request_id", requestOf(ctx).id, "method", r.Method, "path", r.URL.Path, "error", err)
}

// recover turns a defect into internal_error instead of a cut connection.
func (s *server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				s.Logger.ErrorContext(r.Context(), "panic", "request_id", requestOf(r.Context()).id, "cause", cause, "stack", string(debug.Stack()))
				s.fail(w, r, fault.New(fault.InternalError))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
