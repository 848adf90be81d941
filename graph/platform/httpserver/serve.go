package httpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// maxDrain is how many unread bytes of a body are read before the answer.
const maxDrain = 256 << 10

// past is a deadline that takes effect at once.
var past = time.Unix(1, 0)

// serve answers one request within the bounds of the package.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(connKey{}).(*conn)
	c.serving, c.timed, c.pace = true, false, progress{Pace: s.timeouts.Answer}
	a := &answer{ResponseWriter: w, controller: http.NewResponseController(w), conn: c}
	if r.Body != http.NoBody {
		a.body = &body{ReadCloser: r.Body, controller: a.controller, soon: s.soon, mustAsk: r.Header.Get("Expect") != ""}
		a.body.pace.Pace = s.timeouts.Body
		defer context.AfterFunc(s.soon, a.body.Interrupt)()
		defer a.abandonBody()
		inner := *r // net/http uses the body of its own request
		inner.Body = a.body
		r = &inner
	}
	if s.Draining != nil && s.Draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if r.RequestURI == "*" && r.Method == http.MethodOptions { // it asks about the whole server (RFC 9110 §9.3.7)
		web.Headers(a.Header(), r)
		a.Header().Set("Allow", "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS")
		a.WriteHeader(http.StatusNoContent)
	} else {
		(*s.handler.Load()).ServeHTTP(a, r)
	}
	a.finish(r.Method)
}

// Pace is the least rate at which a client must send or take bytes: at least Bytes per Time. The last part may be shorter, but
// must also arrive within Time. Only time in which the server waits for the client counts.
type Pace struct {
	Time  time.Duration
	Bytes int64
}

// progress is the progress of one transfer within its current span of Pace.Bytes.
type progress struct {
	Pace

	waited time.Duration
	moved  int64
}

// timed calls move with the deadline of the current span.
func (p *progress) timed(set func(time.Time) error, move func() (int, error)) (int, error) {
	begun := time.Now()
	if err := set(begun.Add(p.Time - p.waited)); err != nil {
		return 0, err
	}
	n, err := move()
	p.moved += int64(n)
	p.waited += time.Since(begun)
	if p.moved >= p.Bytes {
		p.moved, p.waited = 0, 0
	}
	return n, err
}

// body is a request body that must arrive at a least rate.
type body struct {
	io.ReadCloser

	controller *http.ResponseController
	soon       context.Context //nolint:containedctx // it is the server's
	pace       progress
	// mustAsk reports that reading asks the client for the body (100 Continue).
	mustAsk bool
	// begun reports that the handler has started to read the body.
	begun bool
	// ended reports that it was read to its end.
	ended atomic.Bool
	// interrupted reports that the body must not be read further.
	interrupted atomic.Bool
	// failed is the error that ended reading.
	failed error
}

// Interrupt makes a waiting Read and every later one fail with a timeout. It may be called from any goroutine. It does nothing
// once the body has ended: net/http then waits for the client to leave, and would take a deadline for its leaving.
func (b *body) Interrupt() {
	if b.ended.Load() {
		return
	}
	b.interrupted.Store(true)
	_ = b.controller.SetReadDeadline(past) // a connection that is closed has nothing to interrupt
}

// Read implements io.Reader; the package comment lists its errors.
func (b *body) Read(p []byte) (n int, err error) {
	b.begun = true
	switch {
	case b.ended.Load():
		return 0, io.EOF
	case b.failed != nil:
		return 0, b.failed
	}
	n, err = b.pace.timed(b.controller.SetReadDeadline, func() (int, error) {
		if b.interrupted.Load() { // checked after the deadline was set, because Interrupt may have set its own before
			return 0, os.ErrDeadlineExceeded
		}
		return b.ReadCloser.Read(p)
	})
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		b.ended.Store(true)
		_ = b.controller.SetReadDeadline(time.Time{}) // from now on net/http waits for the client to leave
		return n, err
	case b.soon.Err() != nil:
		b.failed = fault.Wrap(fault.ServiceUnavailable, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.failed = fault.New(fault.RequestTimeout)
	default:
		b.failed = fault.Wrap(fault.InvalidInput, err).Say("The body ends early or does not follow its transfer coding.")
	}
	return n, b.failed
}

// Close implements io.Closer. It does nothing, since net/http closes the body itself, and its own Close would wait for the rest.
func (b *body) Close() error { return nil }

// drain reads the rest of a small body that has already arrived, and reports whether it reached the end.
func (b *body) drain(within time.Duration) bool {
	_ = b.controller.SetReadDeadline(time.Now().Add(within)) // the read shows that it is closed
	_, err := io.CopyN(io.Discard, b.ReadCloser, maxDrain+1)
	if !errors.Is(err, io.EOF) {
		return false
	}
	b.ended.Store(true)
	_ = b.controller.SetReadDeadline(time.Time{}) // as above
	return true
}

// answer is the writer of one answer. It decides whether the connection can be kept.
type answer struct {
	http.ResponseWriter

	controller *http.ResponseController
	conn       *conn
	status     int
	// body is the request's body; nil if it has none.
	body *body
	// early reports that the answer is sent before the whole request has arrived, so the client may still be sending.
	early bool
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
		a.decideConnection()
	}
	a.ResponseWriter.WriteHeader(status)
}

// decideConnection drains a small unread body, or else closes the connection. net/http would wait for the rest of the body.
func (a *answer) decideConnection() {
	b := a.body
	if b == nil || b.ended.Load() {
		return
	}
	if waited := b.failed == nil && (b.begun || !b.mustAsk); waited {
		if b.drain(a.conn.server.timeouts.Drain) {
			return
		}
		a.early = true
	}
	h := a.Header()
	if !slices.Contains(h["Connection"], "close") {
		h["Connection"] = append([]string{"close"}, h["Connection"]...) // net/http checks only the first
	}
}

func (a *answer) Write(p []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap returns the writer of net/http, for http.ResponseController. A handler that flushes has called WriteHeader before.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// finish completes an answer after its handler has returned. If the client may still be sending, it lingers after the answer is
// complete. An answer without a length is complete only after net/http has ended it, so it does not linger.
func (a *answer) finish(method string) {
	if a.conn.hijacked {
		return
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.early && (a.Header().Get("Content-Length") != "" || method == http.MethodHead) && a.controller.Flush() == nil {
		a.conn.linger()
	}
}

// abandonBody prevents net/http from waiting for the rest of the request body, also after a panic.
func (a *answer) abandonBody() {
	if !a.conn.hijacked && !a.body.ended.Load() {
		_ = a.controller.SetReadDeadline(past) // fails only on a closed connection
	}
}
