package httpserver

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// serve answers one request within the bounds of the package.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		panic("httpserver: a request without its connection")
	}
	c.handled, c.awaitsHeader = true, false
	a := &answer{ResponseWriter: w, conn: c, method: r.Method, pace: progress{Pace: s.timeouts.Answer}, since: time.Now()}
	if r.Body == http.NoBody {
		_ = c.SetReadDeadline(time.Time{}) // from here on net/http waits for the client to leave
	} else {
		a.body = &body{ReadCloser: r.Body, conn: c, pace: progress{Pace: s.timeouts.Body}, since: a.since}
		a.expectsContinue = r.Header.Get("Expect") != ""
		inner := *r // net/http looks at the body of the request that it made
		inner.Body = a.body
		r = &inner
	}
	if s.Draining != nil && s.Draining.Load() {
		w.Header().Set("Connection", "close")
	}
	defer a.abandonBody()
	if r.RequestURI == "*" && r.Method == http.MethodOptions {
		answerWhole(a, r)
	} else {
		(*s.handler.Load()).ServeHTTP(a, r)
	}
	a.finish()
	if !a.hijacked {
		c.awaitsHeader, c.arrived = true, 0
	}
}

// answerWhole answers OPTIONS *, which asks about the server as a whole (RFC 9110 §9.3.7).
func answerWhole(w http.ResponseWriter, r *http.Request) {
	web.Headers(w.Header(), r)
	w.Header().Set("Allow", "DELETE, GET, HEAD, PATCH, POST, OPTIONS")
	w.WriteHeader(http.StatusNoContent)
}

// answer is the writer of one answer. It decides whether the connection can be kept, and sets the deadlines of writes.
type answer struct {
	http.ResponseWriter

	conn   *conn
	method string
	pace   progress
	// since is when the request was read.
	since  time.Time
	status int
	// body is that of the request; nil if it has none.
	body *body
	// expectsContinue reports that the client waits for 100 Continue before it sends the body.
	expectsContinue bool
	hijacked        bool
	// early says that the answer is given before the request has arrived.
	early bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
		a.decideConnection()
	}
	a.ResponseWriter.WriteHeader(status)
}

// decideConnection decides what becomes of a body that the handler has not read to its end. net/http would wait for the rest of it.
func (a *answer) decideConnection() {
	if a.body == nil || a.body.ended {
		return
	}
	unsent := a.expectsContinue && !a.body.begun
	if !unsent && a.body.failed == nil && a.body.drain() {
		return
	}
	a.early = true
	h := a.Header()
	if !slices.Contains(h["Connection"], "close") {
		h["Connection"] = append([]string{"close"}, h["Connection"]...) // net/http looks at the first
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	for {
		piece := p[n:min(len(p), n+int(a.pace.Bytes))]
		written, err := a.timed(func() (int, error) { return a.ResponseWriter.Write(piece) })
		n += written
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// FlushError is called by http.ResponseController.
func (a *answer) FlushError() error {
	_, err := a.timed(func() (int, error) { return 0, http.NewResponseController(a.ResponseWriter).Flush() })
	return err
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() } // the next write fails too

// timed runs one write to the client under its deadline.
func (a *answer) timed(write func() (int, error)) (int, error) {
	begun := time.Now()
	if !a.pace.netHTTPDeadlineSuffices(a.since, begun) {
		if err := a.conn.SetWriteDeadline(a.pace.deadline(begun)); err != nil {
			return 0, err
		}
	}
	n, err := write()
	a.pace.add(n, time.Since(begun))
	return n, err
}

// Hijack implements http.Hijacker.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.hijacked = true
	return http.NewResponseController(a.ResponseWriter).Hijack()
}

// Unwrap gives http.ResponseController the writer of net/http.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// finish completes an answer after its handler has returned.
func (a *answer) finish() {
	if a.hijacked {
		return
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if now := time.Now(); now.Sub(a.since) >= a.pace.Time/2 {
		_ = a.conn.SetWriteDeadline(a.pace.deadline(now)) // for bytes that net/http has not sent yet
	}
	if a.lingers() && a.FlushError() == nil {
		a.conn.linger()
	}
}

// lingers reports whether the client is likely to be sending still. It does not wait again for a client that was too slow, nor
// for one that asked first and has sent nothing. An answer without a length is not complete before net/http has ended it.
func (a *answer) lingers() bool {
	slow := a.body != nil && (errors.Is(a.body.failed, fault.New(fault.RequestTimeout)) || a.conn.server.bodiesEnded.Load())
	return a.early && !slow && (!a.expectsContinue || a.body.begun) && (a.Header().Get("Content-Length") != "" || a.method == http.MethodHead)
}

// abandonBody keeps net/http from waiting for the rest of the request body, also after a panic.
func (a *answer) abandonBody() {
	if !a.hijacked && a.body != nil && !a.body.ended {
		_ = a.conn.SetReadDeadline(past) // a connection that is closed waits for nothing
	}
}
