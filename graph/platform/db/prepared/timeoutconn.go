package prepared

import (
	"context"
	"errors"
	"net"
	"time"

	"stoa/graph/platform/slack"
)

const (
	// tolerance is how much later than necessary a deadline may stand. A busy connection so moves it ten times a second and not at
	// every statement, which would wake the poller: a twentieth of the time of a short request.
	tolerance = 100 * time.Millisecond
)

var (
	// grace is how long an answer may take on its way after the statement or the context behind it has ended.
	grace = slack.Of(400 * time.Millisecond)
	// cancelTimeout bounds the connection on which lib/pq asks the server to cancel a statement; the cancelled call waits for it.
	cancelTimeout = slack.Of(400 * time.Millisecond)
)

// dialer opens connections for lib/pq.
type dialer struct {
	net.Dialer

	// neverCancels refuses the connections of cancel requests.
	neverCancels bool
}

var errNeverCancels = errors.New("prepared: a pooler may not survive a cancel request")

// dialed receives the connection that lib/pq dials within Connect; the context of Connect carries it.
type dialed struct{ conn *timeoutConn }

type dialedKey struct{}

// DialContext implements pq.DialerContext. A context without a dialed is that of a cancel request.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	into, connecting := ctx.Value(dialedKey{}).(*dialed)
	if !connecting {
		if d.neverCancels {
			return nil, errNeverCancels
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cancelTimeout)
		defer cancel()
	}
	inner, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t := &timeoutConn{Conn: inner}
	t.handshakeEnd, _ = ctx.Deadline()
	if err := t.SetDeadline(time.Time{}); err != nil {
		_ = inner.Close()
		return nil, err
	}
	if connecting {
		into.conn = t
	}
	return t, nil
}

// DialTimeout implements pq.Dialer; lib/pq prefers DialContext.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// Dial implements pq.Dialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// timeoutConn is a connection on which no answer is waited for longer than the statement that was sent may take. lib/pq reads only
// after it has written a request, so each write sets the deadline of the answer. It is used by one goroutine at a time.
type timeoutConn struct {
	net.Conn

	// handshakeEnd is when connecting has to be done; zero for no bound.
	handshakeEnd time.Time
	// ready is true once lib/pq has connected; until then the deadlines are those of the handshake.
	ready bool
	// timeout is the statement_timeout of the session, 0 for none.
	timeout time.Duration
	// end is when the context of the current call ends, zero for never.
	end time.Time
	// deadline is the one that is set.
	deadline time.Time
}

// Write sets the deadline for itself and for the answer, and writes.
func (t *timeoutConn) Write(b []byte) (int, error) {
	if t.ready {
		if err := t.setDeadline(); err != nil {
			return 0, err
		}
	}
	return t.Conn.Write(b)
}

func (t *timeoutConn) setDeadline() error {
	var latest time.Time
	if t.timeout > 0 {
		latest = time.Now().Add(t.timeout + grace)
	}
	if !t.end.IsZero() {
		latest = earlier(latest, t.end.Add(grace))
	}
	if latest.Equal(t.deadline) || (!latest.IsZero() && !t.deadline.Before(latest) && t.deadline.Sub(latest) <= tolerance) {
		return nil
	}
	if !latest.IsZero() {
		latest = latest.Add(tolerance)
	}
	t.deadline = latest
	return t.Conn.SetDeadline(latest)
}

// SetDeadline is called by lib/pq to bound the handshake, which the context of Connect bounds as well.
func (t *timeoutConn) SetDeadline(at time.Time) error {
	t.deadline = earlier(at, t.handshakeEnd)
	return t.Conn.SetDeadline(t.deadline)
}

// start ends the handshake: from now on each statement has its own deadline.
func (t *timeoutConn) start(timeout time.Duration) {
	t.ready, t.timeout, t.handshakeEnd = true, timeout, time.Time{}
}

// earlier returns the earlier of two times, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
