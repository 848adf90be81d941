package db

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/graph/platform/slack"
)

// setting is a parameter of a connection string.
type setting struct{ name, value string }

// session are the settings of every connection. The timeouts, in milliseconds, bound how long one stuck statement, lock or transaction can
// block others; each shows as service_unavailable, within RequestTimeout. Work that may take longer has a Patient context.
var session = []setting{
	{"application_name", "stoa"},
	{"timezone", "UTC"},
	{"statement_timeout", milliseconds(3500)},
	{"lock_timeout", milliseconds(3000)},
	{"idle_in_transaction_session_timeout", milliseconds(5000)},
	// The server ends a statement whose connection was closed; socket closes it to give a statement up.
	{"client_connection_check_interval", "1000"},
	// No statement here runs long enough to make up for a compilation, but the estimates of a cached plan can claim so.
	{"jit", "off"},
}

// milliseconds returns a time-out as PostgreSQL reads it.
func milliseconds(count int) string {
	return strconv.FormatInt(slack.Of(time.Duration(count)*time.Millisecond).Milliseconds(), 10)
}

// connectTimeout is how long connecting may take, in seconds, all hosts of a URL together: one that does not answer must leave time for
// the next within RequestTimeout.
const connectTimeout = 4

// ConnectionURL adds to a connection string what every connection needs that it leaves open: it goes to a server that takes writes, and
// gives a host up that does not answer.
func ConnectionURL(dsn string) (string, error) {
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("db: %w", err)
	}
	return withSettings(dsn, []setting{
		{"target_session_attrs", string(pq.TargetSessionAttrsReadWrite)},
		{"connect_timeout", strconv.Itoa(max(1, connectTimeout/(1+len(config.Multi))))},
	})
}

// EncodeParameters is the query of a connection URL. libpq and pgx take a plus sign for itself, not for a space.
func EncodeParameters(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// withSession is ConnectionURL with the settings of the session.
func withSession(dsn string) (string, error) {
	dsn, err := ConnectionURL(dsn)
	if err != nil {
		return "", err
	}
	return withSettings(dsn, session)
}

// withSettings adds the settings that the connection string, in either of its two forms, leaves open.
func withSettings(dsn string, settings []setting) (string, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		for _, s := range settings {
			if !strings.Contains(dsn, s.name+"=") {
				dsn += " " + s.name + "=" + s.value
			}
		}
		return dsn, nil
	}
	parsed, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("db: %w", err)
	}
	query := parsed.Query()
	for _, s := range settings {
		if !query.Has(s.name) {
			query.Set(s.name, s.value)
		}
	}
	parsed.RawQuery = EncodeParameters(query)
	return parsed.String(), nil
}

// Listen opens a connection outside the pool, for LISTEN, NOTIFY and session locks. Notices arrive on the channel, which must be read all
// the time and is closed when the connection is lost. A pooler in between must be in session mode.
func Listen(url string, notices chan<- *pq.Notification) (*pq.ListenerConn, error) {
	dsn, err := withSession(url)
	if err != nil {
		return nil, err
	}
	return pq.NewListenerConn(dsn, notices)
}

// RequestTimeout is how long one request may wait for the database altogether: for connections, statements and commits. The statement
// that runs then has its statement_timeout.
var RequestTimeout = slack.Of(4 * time.Second)

// MaintenanceTimeout is how long a Patient statement may take.
const MaintenanceTimeout = 5 * time.Minute

// Bounded returns a context that ends after a budget: RequestTimeout, less the time that the request has spent on the database already.
// The transports call it. A context that ends earlier, or is Patient, stays unchanged.
func Bounded(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); isPatient(ctx) || ok && time.Until(end) <= budget {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithValue(ctx, unboundedKey{}, ctx), budget)
}

// Patient returns a context for jobs and for the maintenance of operators: each of its statements may take MaintenanceTimeout, and the
// bound of a request does not apply.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(Unbounded(ctx), patientKey{}, true)
}

type patientKey struct{}

func isPatient(ctx context.Context) bool { return ctx.Value(patientKey{}) != nil }

// Unbounded undoes Bounded, for the part of a request that does not use the database and may take longer.
func Unbounded(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(unboundedKey{}).(context.Context); ok {
		return unbounded{ctx, outer}
	}
	return ctx
}

type unboundedKey struct{}

// unbounded has the values of a bounded context and the end of the context that was bounded.
type unbounded struct {
	context.Context //nolint:containedctx // this is a context

	outer context.Context //nolint:containedctx // as above
}

func (u unbounded) Deadline() (time.Time, bool) { return u.outer.Deadline() }

func (u unbounded) Done() <-chan struct{} { return u.outer.Done() }

func (u unbounded) Err() error { return u.outer.Err() }
