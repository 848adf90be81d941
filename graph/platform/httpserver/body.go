package httpserver

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"stoa/graph/platform/fault"
)

// maxDrain is how much of a body that the handler has not read is read before the answer, in bytes.
const maxDrain = 256 << 10

// body is a request body that must arrive at a least rate.
type body struct {
	io.ReadCloser

	conn *conn
	pace progress
	// since is when the request was read.
	since time.Time
	// begun says that the handler has read some of it, ended that it was read to its end.
	begun, ended bool
	// interrupted is true once the body must not be read any further.
	interrupted atomic.Bool
	// failed is why it could not be read to its end.
	failed error
}

// Interrupt makes a Read that waits, and every later one, fail as one that took too long. It may be called from any goroutine.
func (b *body) Interrupt() {
	b.interrupted.Store(true)
	_ = b.conn.SetReadDeadline(past) // a connection that is closed has nothing to interrupt
}

// Read implements io.Reader; see the package for its errors.
func (b *body) Read(p []byte) (int, error) {
	b.begun = true
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.read(p)
	switch {
	case err == nil, b.ended:
		return n, err
	case b.conn.server.bodiesEnded.Load():
		b.failed = fault.Wrap(fault.ServiceUnavailable, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.failed = fault.New(fault.RequestTimeout)
	default:
		b.failed = fault.Wrap(fault.InvalidInput, err).Say("The body ends early or does not follow its transfer coding.")
	}
	return n, b.failed
}

func (b *body) read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	b.conn.reading.Store(true)
	defer b.conn.reading.Store(false)
	begun := time.Now()
	if !b.pace.netHTTPDeadlineSuffices(b.since, begun) {
		if err := b.conn.SetReadDeadline(b.pace.deadline(begun)); err != nil {
			return 0, err
		}
	}
	// Looked at after the deadline was set, which Hurry and Interrupt may have done before.
	if b.conn.server.bodiesEnded.Load() || b.interrupted.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := b.ReadCloser.Read(p)
	b.pace.add(n, time.Since(begun))
	if errors.Is(err, io.EOF) {
		b.ended = true
		_ = b.conn.SetReadDeadline(time.Time{}) // from here on net/http waits for the client to leave
	}
	return n, err
}

// Close implements io.Closer. It does nothing, since net/http closes the body itself, and its own Close would wait for the rest.
func (b *body) Close() error { return nil }

// drain reads the rest of a small body that is there already, and reports whether that was all.
func (b *body) drain() bool {
	if b.ended {
		return true
	}
	b.pace, b.since = progress{Pace: Pace{b.conn.server.timeouts.Drain, maxDrain + 1}}, time.Time{}
	_, _ = io.CopyN(io.Discard, reader(b.read), maxDrain+1) // its failure shows in ended
	return b.ended
}

// reader is a function as an io.Reader.
type reader func([]byte) (int, error)

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) { return r(p) }
