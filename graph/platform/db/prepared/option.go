package prepared

import "context"

// DefaultCacheSize is how many statements a connection caches unless
// [CacheSize] says otherwise.
const DefaultCacheSize = 256

// Option changes how [NewConnector] opens connections.
type Option func(*connector)

// CacheSize sets how many statements each connection caches, at least 1.
// The server holds one parsed statement and its plans for each.
func CacheSize(n int) Option {
	return func(c *connector) { c.size = n }
}

// OnConnect runs statements on every new connection, in order and without
// arguments. If one fails, the connection is closed and opening it returns the error. Settings belong in the dsn, which costs no
// round trip: lib/pq sends application_name, search_path and every other run-time parameter it finds there when it connects.
func OnConnect(statements ...string) Option {
	return func(c *connector) { c.init = append(c.init, statements...) }
}

// NeverCancel gives a statement up at the deadline of its context without asking the server to cancel it: PgBouncer from 1.18 to
// 1.20.0, Debian 12's among them, ends when a cancel request meets the end of its connection. The statement then runs until the
// server notices that its client has gone, or until its statement_timeout.
func NeverCancel() Option {
	return func(c *connector) { c.neverCancels = true }
}

// WithClock lets clock shift the time that the database's sessions see.
func WithClock(clock *Clock) Option {
	return func(c *connector) { c.clock = clock }
}

// Hook is called with every statement that a caller runs, and with COMMIT, before it
// runs; the function it returns is called with how that went. A query is over for it
// when its first row is there.
type Hook func(ctx context.Context, query string) (context.Context, func(error))

// WithHook calls hook with the statements.
func WithHook(hook Hook) Option {
	return func(c *connector) { c.hook = hook }
}
