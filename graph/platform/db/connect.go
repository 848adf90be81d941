package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lib/pq"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// connector connects to a server that takes writes. A failure without a reason of the database is service_unavailable.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(context.WithValue(ctx, connectingKey{}, true))
	if err != nil && pq.As(err) == nil {
		err = fault.Wrap(fault.ServiceUnavailable, err)
	}
	return conn, err
}

// connectingKey is the context key of a dial that connects, not one that cancels a statement.
type connectingKey struct{}

// newConnector makes a connector that closes a silent connection soon after the statement_timeout of its session. Unless it is 0,
// timeout replaces the statement_timeout of the URL and of session.
func newConnector(url string, timeout time.Duration, cancels bool, o Options) (driver.Connector, error) {
	dsn, err := withSession(url)
	if err != nil {
		return nil, err
	}
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if timeout > 0 {
		config.Runtime["statement_timeout"] = strconv.FormatInt(timeout.Milliseconds(), 10)
	}
	if o.Standby {
		config.TargetSessionAttrs = pq.TargetSessionAttrsAny
	}
	made, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	wait := &dialer{cancels: cancels}
	if count, err := strconv.Atoi(config.Runtime["statement_timeout"]); err == nil && count > 0 {
		wait.silence = max(time.Duration(count)*time.Millisecond, o.Silence) + grace
	}
	made.Dialer(wait)
	if o.Wrap != nil {
		return connector{o.Wrap(made)}, nil
	}
	return connector{made}, nil
}

// OpenPlain makes a pool without statement timeouts, for migrations and backups. It connects lazily.
func OpenPlain(url string) (*sql.DB, error) {
	dsn, err := ConnectionURL(url)
	if err != nil {
		return nil, err
	}
	made, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	return sql.OpenDB(connector{made}), nil
}

// UsePlain calls act with a pool of OpenPlain, which it closes afterwards.
func UsePlain(url string, act func(*sql.DB) error) error {
	pool, err := OpenPlain(url)
	if err != nil {
		return err
	}
	return errors.Join(act(pool), pool.Close())
}

// tolerance is how much later than necessary a deadline may be. So a busy connection moves it only ten times a second; moving it
// at every statement would wake the poller each time.
const tolerance = 100 * time.Millisecond

// grace is how long an answer may travel after its statement has ended.
var grace = slack.Of(400 * time.Millisecond)

// dialer opens the network connections of lib/pq.
type dialer struct {
	net.Dialer

	// silence is how long to wait for an answer; 0 means forever.
	silence time.Duration
	// cancels allows requests to cancel a statement. They may crash PgBouncer 1.18 to 1.20.0.
	cancels bool
}

var errNeverCancels = errors.New("db: a pooler may not survive a request to cancel")

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if !d.cancels && ctx.Value(connectingKey{}) == nil {
		return nil, errNeverCancels
	}
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	connectBy, _ := ctx.Deadline()
	return &socket{Conn: conn, silence: d.silence, connectBy: connectBy}, nil
}

// DialTimeout implements pq.Dialer; lib/pq calls DialContext.
func (d *dialer) DialTimeout(network, address string, _ time.Duration) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// socket is a network connection that waits for an answer no longer than silence. TCP does not detect a stopped server process,
// because its kernel still acknowledges data. lib/pq reads only after it has written, so each write moves the deadline.
type socket struct {
	net.Conn

	silence time.Duration
	// connectBy is when lib/pq must have connected.
	connectBy time.Time
	connected bool
	deadline  time.Time
}

// SetDeadline is called by lib/pq before it connects and, with the zero time, after it has connected.
func (s *socket) SetDeadline(at time.Time) error {
	if s.connected = at.IsZero(); !s.connected && !s.connectBy.IsZero() && s.connectBy.Before(at) {
		at = s.connectBy
	}
	s.deadline = at
	return s.Conn.SetDeadline(at)
}

// Write writes, with a deadline for itself and for the answer.
func (s *socket) Write(b []byte) (int, error) {
	if now := time.Now(); s.connected && s.silence > 0 && s.deadline.Sub(now) < s.silence {
		s.deadline = now.Add(s.silence + tolerance)
		if err := s.Conn.SetDeadline(s.deadline); err != nil {
			return 0, err
		}
	}
	return s.Conn.Write(b)
}

// ErrRefusesConnections is in the error of NewConnections.Check if the database refuses a new connection.
var ErrRefusesConnections = errors.New("db: the database refuses new connections")

// NewConnections checks whether the database still accepts connections. A pool keeps its connections for a long time. Without
// this check, a changed password, an unreadable key file or a connection limit would show only when they end, all at once. It is
// safe for concurrent use.
type NewConnections struct {
	DB *DB

	mu   sync.Mutex
	next time.Time
	err  error
}

// failedFor is how long the result of a failed check lasts.
var failedFor = slack.Of(time.Second)

// Check opens and closes a connection, at most once a minute while that works and once a second while it fails. In between it
// returns the last result.
func (n *NewConnections) Check(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Now().Before(n.next) {
		return n.err
	}
	conn, err := n.DB.connector.Connect(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() // the caller gave up, which proves nothing about the database
	}
	if err != nil {
		n.next, n.err = time.Now().Add(failedFor), fmt.Errorf("%w: %w", ErrRefusesConnections, err)
		return n.err
	}
	n.next, n.err = time.Now().Add(time.Minute), nil
	return conn.Close()
}
