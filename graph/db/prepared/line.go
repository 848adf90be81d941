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
	l := &line{Conn: inner, silence: d.silence, waiter: newWaiter(inner)}
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

// renewal is how much longer than need be a deadline is set, so that a line that
// is busy moves it once in that time and not at every read, which would rouse
// the poller: a twentieth of the time of a short request.
const renewal = time.Second

// line is a connection whose reads end when the server is silent for too long.
// lib/pq reads only when it has asked something; a context that ends does not
// end its reads, since they wait for what became of the cancelled statement.
type line struct {
	net.Conn

	silence time.Duration
	waiter  waiter
	// open is false while lib/pq has a deadline of its own, to connect.
	open atomic.Bool
	// renewed is when the deadline was set last. Only the reader knows it.
	renewed time.Time
}

// Read fails with os.ErrDeadlineExceeded when nothing comes.
func (l *line) Read(b []byte) (int, error) {
	if now := time.Now(); l.open.Load() && now.Sub(l.renewed) > renewal {
		if err := l.Conn.SetReadDeadline(now.Add(l.silence + renewal)); err != nil {
			return 0, err
		}
		l.renewed = now
	}
	if readers.enter() {
		l.waiter.await()
	}
	defer readers.leave()
	return l.Conn.Read(b)
}

// SetDeadline is lib/pq's to call, with the zero time once it has connected.
func (l *line) SetDeadline(t time.Time) error {
	l.open.Store(t.IsZero())
	l.renewed = time.Time{}
	return l.Conn.SetDeadline(t)
}
