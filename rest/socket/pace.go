package socket

import (
	"net"
	"slices"
	"time"

	"stoa/graph/platform/bounds"
)

const (
	// maxMessage is the largest message in bytes that a client may send (§6).
	maxMessage = bounds.Frame
	// maxWire is how many bytes a client may send for one message or control frame, the headers of fragments included.
	maxWire = 4 * maxMessage
	// framesPerSecond is how many messages and control frames a client may send in any second; first acks do not count (§6).
	framesPerSecond = 50
)

// pace counts what a client sends. Only the goroutine that reads uses it.
type pace struct {
	// times are when the frames of the last second came.
	times []time.Time
}

// take counts a frame and returns errFast if it is one too many.
func (p *pace) take(now time.Time) error {
	old := 0
	for old < len(p.times) && now.Sub(p.times[old]) >= time.Second {
		old++
	}
	if old == len(p.times) {
		p.times = nil // an idle connection keeps no memory of a burst
	}
	p.times = append(slices.Delete(p.times, 0, min(old, len(p.times))), now)
	if len(p.times) > framesPerSecond {
		return errFast
	}
	return nil
}

// meteredConn bounds how many bytes a client may send for one message. The library does not report fragments, and a message may
// have any number of them, also empty ones.
type meteredConn struct {
	net.Conn
	// unfinished is how many bytes have come since the last whole message or control frame. Only the goroutine that reads uses it.
	unfinished int
}

// Read implements net.Conn.
func (m *meteredConn) Read(p []byte) (int, error) {
	if m.unfinished > maxWire {
		return 0, errLarge
	}
	n, err := m.Conn.Read(p)
	m.unfinished += n
	return n, err
}
