package rest

import (
	"bytes"
	"net/http"
	"runtime/debug"
	"sync"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/webhooks"
	"stoa/rest/owner"
	"stoa/rest/site"
)

// answer writes the result of a method: a file, a stream of events, or a record as JSON.
func (s *server) answer(w http.ResponseWriter, r *http.Request, status int, result any) {
	switch result := result.(type) {
	case *attachments.File:
		if err := sendFile(w, r, result, uploadedAt(r)); err != nil {
			s.fail(w, r, err)
		}
		return
	case *events.Stream:
		s.serveStream(w, r, result)
		return
	}
	if repeat, ok := result.(interface{ IsRepeat() bool }); ok && repeat.IsRepeat() {
		status = http.StatusOK
	}
	if stored, ok := result.(interface{ IsReplay() bool }); ok && stored.IsReplay() {
		w.Header().Set(web.ReplayedHeader, "true")
	}
	if file, ok := result.(*attachments.UploadResult); ok && file.Bound {
		w.Header().Set(web.BoundHeader, "true")
	}
	if at := location(result); at != "" && status == http.StatusCreated {
		w.Header().Set("Location", at)
	}
	s.reply(w, r, status, result)
}

// location returns the path of the record in an answer; empty if no GET returns that record alone.
func location(answer any) string {
	switch made := answer.(type) {
	case *bots.Registration:
		return "/api/v1/bots/" + made.Bot.ID.String()
	case *posts.PostResult:
		return "/api/v1/posts/" + made.Post.ID.String()
	case *services.ServiceResult:
		return "/api/v1/services/" + made.Service.ID.String()
	case *tasks.TaskResult:
		return "/api/v1/tasks/" + made.Task.ID.String()
	case *orders.OrderResult:
		return "/api/v1/orders/" + made.Order.ID.String()
	case *attachments.UploadResult:
		return "/api/v1/attachments/" + made.Attachment.ID.String()
	case *webhooks.SecretResult:
		return "/api/v1/webhooks/" + made.Webhook.ID.String()
	default:
		return ""
	}
}

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

// fail writes the fault of err, as a page on paths for people, and logs it if an operator must know of it.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	s.Metrics.Faults.Count(string(known.Code))
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
