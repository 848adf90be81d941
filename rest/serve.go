package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/events"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

// maxBody is the size of an ordinary JSON request in bytes (§8).
const maxBody = bounds.Body

// serve answers the requests to a route.
func (s *server) serve(row route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nameIgnored(w.Header(), &row.operation, r.URL.RawQuery)
		answer, err := s.call(w, r, row)
		if page, ok := answer.(*events.Page); ok && err == nil {
			answer, err = s.poll(w, r, page)
		}
		met := &requestOf(r.Context()).limits
		met.Headers(w.Header())
		if err != nil {
			s.Metrics.Limits.Refused(met.Refused()...)
			s.fail(w, r, err)
			return
		}
		switch answer := answer.(type) {
		case *attachments.File:
			s.serveFile(w, r, answer)
			return
		case *events.Stream:
			s.serveStream(w, r, answer)
			return
		}
		status := row.status
		if repeat, ok := answer.(interface{ IsRepeat() bool }); ok && repeat.IsRepeat() {
			status = http.StatusOK
		}
		if stored, ok := answer.(interface{ IsReplay() bool }); ok && stored.IsReplay() {
			w.Header().Set(web.ReplayedHeader, "true")
		}
		if file, ok := answer.(*attachments.UploadResult); ok && file.Bound {
			w.Header().Set(web.BoundHeader, "true")
		}
		if at := location(answer); at != "" && status == http.StatusCreated {
			w.Header().Set("Location", at)
		}
		s.reply(w, r, status, answer)
	})
}

// call authenticates the caller, reads the body and calls the method, in that order. The time of the database is bounded for the whole
// request (db.RequestTimeout); the time in which a body arrives does not count, and an upload bounds each of its steps itself.
func (s *server) call(w http.ResponseWriter, r *http.Request, row route) (any, error) {
	began := time.Now()
	requestOf(r.Context()).accepted = mediaTypes[row.body]
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer func() { cancel() }()
	if row.setUp != nil {
		if err := row.setUp(ctx); err != nil {
			return nil, err
		}
	}
	v, err := s.authenticate(ctx, r.Header, row.token, row.method != http.MethodGet && !row.uncounted)
	if err != nil {
		return nil, err
	}
	requestOf(ctx).caller = v
	if row.limit != nil {
		if err := row.limit(ctx); err != nil {
			return nil, err
		}
	}
	if row.body == noBody {
		return row.run(ctx, r, nil)
	}
	spent := time.Since(began)
	cancel()
	if row.body == formBody {
		if err := checkForm(r); err != nil {
			return nil, err
		}
		return row.run(r.Context(), r, nil)
	}
	raw, err := readJSON(w, r, row)
	if err != nil {
		return nil, err
	}
	ctx, cancel = db.Bounded(r.Context(), db.RequestTimeout-spent)
	return row.run(ctx, r, raw)
}

// readJSON returns the whole JSON body. Faults: unsupported_media_type, payload_too_large, those of a body that does not arrive
// (package httpserver), and the route's own code for one that is cut off.
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

// endsAtOnce says whether a body of unannounced length is empty, and leaves it readable from its start.
func endsAtOnce(r *http.Request) bool {
	ahead := bufio.NewReader(r.Body)
	_, err := ahead.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return errors.Is(err, io.EOF)
}

// request is the context of one request. It holds what the middleware finds out and what the domains look for in a context, all in
// one value instead of a context each.
type request struct {
	context.Context //nolint:containedctx // this is a context

	id, address string
	// accepted is the media type of the bodies that the path takes.
	accepted string
	limits   limits.Record
	caller   viewer.Viewer
}

type requestKey struct{}

// Value implements context.Context.
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

// requestOf returns the request that headers began; an empty one for a context that did not pass it.
func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{Context: ctx}
}
