package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/orders"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/webhooks"
	"stoa/rest/owner"
	"stoa/rest/site"
)

// maxBody is the size of an ordinary JSON request in bytes (§8).
const maxBody = bounds.Body

// serve answers the requests to a route, in the order of §1.6: authentication, limits, body, check of the input and the method,
// answer. The router has already matched path and method.
func (s *server) serve(row route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nameIgnored(w.Header(), &row.operation, r.URL.RawQuery)
		result, err := s.call(w, r, row)
		if page, ok := result.(*events.Page); ok && err == nil {
			result, err = s.poll(w, r, page)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.answer(w, r, row.status, result)
	})
}

// call runs a request up to its method. The time of the database is bounded for the whole request (db.RequestTimeout); the time in
// which a body arrives does not count, and an upload bounds each of its steps itself.
func (s *server) call(w http.ResponseWriter, r *http.Request, row route) (any, error) {
	began := time.Now()
	asked := requestOf(r.Context())
	asked.accepted = mediaTypes[row.body]
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer func() { cancel() }()
	if row.setUp != nil {
		if err := row.setUp(ctx); err != nil {
			return nil, err
		}
	}
	caller, err := s.authenticate(ctx, r, row)
	if err != nil {
		return nil, err
	}
	asked.caller = caller
	if row.limit != nil {
		if err := row.limit(ctx); err != nil {
			return nil, err
		}
	}
	var raw []byte
	switch spent := time.Since(began); row.body {
	case noBody:
	case formBody:
		ctx, err = r.Context(), checkForm(r)
	default:
		cancel()
		raw, err = readJSON(w, r, row)
		ctx, cancel = db.Bounded(r.Context(), db.RequestTimeout-spent)
	}
	if err != nil {
		return nil, err
	}
	return row.run(ctx, r, raw)
}

// authenticate identifies the caller (§5), and does the method's first read in the same step (along). Faults: unauthorized for a
// missing or wrong token, forbidden for a suspended agent, and write_limited if the agent has made too many changes.
func (s *server) authenticate(ctx context.Context, r *http.Request, row route) (viewer.Viewer, error) {
	anonymous := viewer.Viewer{Address: requestOf(ctx).address}
	if row.token == tokenIgnored || (row.token == tokenOptional && len(r.Header.Values("Authorization")) == 0) {
		return anonymous, nil
	}
	bearer, ok := web.Bearer(r.Header)
	if !ok {
		return anonymous, fault.New(fault.Unauthorized)
	}
	along := row.along
	if r.URL.RawQuery != "" {
		along = nil
	}
	v, err := s.Graph.Auth.AuthenticateAlong(ctx, bearer, row.method != http.MethodGet && !row.uncounted, along)
	v.Address = anonymous.Address
	return v, err
}

// readJSON returns the whole JSON body. Faults: unsupported_media_type, payload_too_large, the faults of a body that does not
// arrive (package httpserver), and the route's own code for a body that is cut off.
func readJSON(w http.ResponseWriter, r *http.Request, row route) ([]byte, error) {
	empty := r.ContentLength == 0
	if row.body == optionalJSONBody && r.ContentLength < 0 {
		empty = endsAtOnce(r)
	}
	if !(empty && row.body == optionalJSONBody) {
		if err := web.RequireJSON(r.Header); err != nil {
			return nil, err
		}
	}
	raw, err := web.ReadBody(w, r, maxBody)
	if cutOff := new(wire.Error); errors.As(err, &cutOff) {
		return nil, row.malformed(cutOff)
	}
	if err == nil && len(raw) == 0 && row.body == optionalJSONBody {
		raw = []byte("{}")
	}
	return raw, err
}

// endsAtOnce reports whether a body of unknown length is empty. The body stays readable from its start.
func endsAtOnce(r *http.Request) bool {
	ahead := bufio.NewReader(r.Body)
	_, err := ahead.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return errors.Is(err, io.EOF)
}

// request is the context of one request. It holds the results of the middleware and the context values of the domains, in one
// value instead of one context for each.
type request struct {
	context.Context //nolint:containedctx // this is a context

	id, address string
	// accepted is the media type of bodies on this path.
	accepted string
	// authorization is the header of a request that calls tools.
	authorization []string
	limits        limits.Record
	caller        viewer.Viewer
}

type requestKey struct{}

func (q *request) Value(key any) any {
	switch key.(type) {
	case requestKey:
		return q
	case limits.Key:
		return &q.limits
	case viewer.Key:
		return &q.caller
	default:
		return q.Context.Value(key)
	}
}

// requestOf returns the request that begin made; an empty request if begin did not make the context.
func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{Context: ctx}
}

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

// location returns the path of the record in an answer; empty if the record has no path of its own.
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
	var body []byte
	var err error
	if stored, ok := answer.(interface{ JSON() []byte }); ok {
		body = stored.JSON()
	} else {
		body, err = wire.Marshal(answer)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	web.WriteJSON(w, status, body)
}

// fail writes the fault of err, as a page on paths for people, and logs it if operators need it.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	ctx, asked := r.Context(), requestOf(r.Context())
	s.Metrics.Faults.Count(string(known.Code))
	s.Metrics.Limits.CountEach(asked.limits.Refused())
	web.LogFault(ctx, s.Logger, known, err, "request_id", asked.id, "method", r.Method, "path", loggedPath(r))
	web.RefusalHeaders(w.Header(), r, known, asked.accepted)
	if owner.Under(r.URL.Path) {
		owner.WriteError(w, known)
		return
	}
	writeError := func() error { return web.WriteError(w, known) }
	if forPeople(r.URL.Path) {
		writeError = func() error { return site.WriteError(w, r, known, s.hasSite()) }
	}
	if err := writeError(); err != nil {
		s.Logger.ErrorContext(ctx, "error body", "request_id", asked.id, "method", r.Method, "path", loggedPath(r), "error", err)
	}
}

// recover turns a panic into internal_error.
func (s *server) recover(next http.Handler) http.Handler {
	return web.Recover(next, func(w http.ResponseWriter, r *http.Request, cause any) {
		s.Logger.ErrorContext(r.Context(), "panic", "request_id", requestOf(r.Context()).id, "cause", cause, "stack", string(debug.Stack()))
		s.fail(w, r, fault.New(fault.InternalError))
	})
}
