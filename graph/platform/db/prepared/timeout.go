package prepared

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

type timeoutKey struct{}

// WithStatementTimeout returns a context whose statements and transactions may take this long each instead of the
// statement_timeout of the dsn; it is rounded up to milliseconds, and 0 is no bound. The session is changed, by a round trip, before
// a statement or transaction whose timeout is another than that of the last one. Inside a transaction the timeout is that of its
// beginning.
func WithStatementTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return context.WithValue(ctx, timeoutKey{}, timeout)
}

// StatementTimeout returns the argument of WithStatementTimeout; ok is false without it.
func StatementTimeout(ctx context.Context) (timeout time.Duration, ok bool) {
	timeout, ok = ctx.Value(timeoutKey{}).(time.Duration)
	return timeout, ok
}

// dsnTimeout is the statement_timeout of a dsn, 0 if it has none in plain milliseconds.
func dsnTimeout(settings map[string]string) time.Duration {
	timeout, err := strconv.Atoi(settings["statement_timeout"])
	if err != nil || timeout <= 0 {
		return 0
	}
	return time.Duration(timeout) * time.Millisecond
}

// begin prepares the connection for a call: its answers are waited for no longer than ctx and the statement timeout allow. Outside
// a transaction it gives the session the timeout that ctx asks for.
func (c *conn) begin(ctx context.Context) error {
	c.socket.end, _ = ctx.Deadline()
	if c.inTx {
		return nil
	}
	want, ok := StatementTimeout(ctx)
	if !ok {
		want = c.connector.timeout
	}
	milliseconds := (want + time.Millisecond - 1) / time.Millisecond
	if c.connector.pooled {
		c.socket.timeout, c.local = want, c.connector.settings
		if ok {
			c.local += fmt.Sprintf("; SET LOCAL statement_timeout = %d", milliseconds)
		}
		return nil
	}
	if want == c.socket.timeout {
		return nil
	}
	set := "RESET statement_timeout"
	if ok {
		set = fmt.Sprintf("SET statement_timeout = %d", milliseconds)
	}
	if _, err := c.pqConn.ExecContext(ctx, set, nil); err != nil {
		return err
	}
	c.socket.timeout = want
	return nil
}
