package prepared

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

// patience is how long after its statement_timeout a server may be silent.
const patience = 2 * time.Second

// silence returns how long a server may be silent while it is asked something:
// its statement_timeout bounds every answer, and patience covers the way. It is
// 0, no bound, where the dsn has no timeout in plain milliseconds.
func silence(settings map[string]string) time.Duration {
	timeout, err := strconv.Atoi(settings["statement_timeout"])
	if err != nil || timeout <= 0 {
		return 0
	}
	return time.Duration(timeout)*time.Millisecond + patience
}

// dialer opens lines for lib/pq.
type dialer struct {
	net.Dialer

	silence time.Duration
}

// DialContext is lib/pq's to call.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l := &line{Conn: inner, silence: d.silence}
	l.open.Store(true)
	return l, nil
}

// DialTimeout is Dial with a bound; lib/pq prefers DialContext.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// Dial is DialContext without a context.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// line is a connection whose reads end when the server is silent for too long.
// lib/pq reads only when it has asked something; a context that ends does not
// end its reads, since they wait for what became of the cancelled statement.
type line struct {
	net.Conn

	silence time.Duration
	// open is false while lib/pq has a deadline of its own, to connect.
	open atomic.Bool
}

// Read fails with os.ErrDeadlineExceeded when nothing comes.
func (l *line) Read(b []byte) (int, error) {
	if l.open.Load() {
		if err := l.Conn.SetReadDeadline(time.Now().Add(l.silence)); err != nil {
			return 0, err
		}
	}
	return l.Conn.Read(b)
}

// SetDeadline is lib/pq's to call, with the zero time once it has connected.
func (l *line) SetDeadline(t time.Time) error {
	l.open.Store(t.IsZero())
	return l.Conn.SetDeadline(t)
}
