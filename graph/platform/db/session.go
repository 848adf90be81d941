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

// session holds the settings of every connection. The timeouts, in milliseconds, bound how long one stuck statement, lock or
// transaction can block others. Each causes service_unavailable within RequestTimeout. Longer work uses a Patient context.
var session = []setting{
	{"application_name", "stoa"},
	{"timezone", "UTC"},
	{"statement_timeout", milliseconds(3500)},
	{"lock_timeout", milliseconds(3000)},
	{"idle_in_transaction_session_timeout", milliseconds(5000)},
	// The server ends a statement if its connection is closed; socket closes the connection to abandon a statement.
	{"client_connection_check_interval", "1000"},
	// JIT never pays off for our short statements, but the planner's estimates can switch it on.
	{"jit", "off"},
}

// milliseconds formats a time-out for PostgreSQL.
func milliseconds(count int) string {
	return strconv.FormatInt(slack.Of(time.Duration(count)*time.Millisecond).Milliseconds(), 10)
}

// connectTimeout is how long connecting may take for all hosts of a URL together. A host that does not answer must leave time for
// the next within RequestTimeout.
var connectTimeout = slack.Of(4 * time.Second)

// ConnectionURL adds missing settings to a connection string: connect only to a server that accepts writes, and skip a host that
// does not answer.
func ConnectionURL(dsn string) (string, error) {
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("db: %w", err)
	}
	return withSettings(dsn, []setting{
		{"target_session_attrs", string(pq.TargetSessionAttrsReadWrite)},
		{"connect_timeout", strconv.Itoa(max(1, int(connectTimeout.Seconds())/(1+len(config.Multi))))},
	})
}

// EncodeParameters encodes the query of a connection URL. libpq reads a plus sign as a plus sign, not as a space.
func EncodeParameters(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// withSession is ConnectionURL with the settings of the session.
func withSession(dsn string) (string, error) {
	dsn, err := ConnectionURL(dsn)
	if err != nil {
		return "", err
	}
	return withSettings(dsn, session)
}

// withSettings adds the settings that the connection string, in either of its two forms, does not set.
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

// Listen opens a connection outside the pool, for LISTEN, NOTIFY and session locks. Notifications arrive on the channel. The
// caller must always read it; it is closed when the connection is lost. A pooler in between must be in session mode.
func Listen(url string, notices chan<- *pq.Notification) (*pq.ListenerConn, error) {
	dsn, err := withSession(url)
	if err != nil {
		return nil, err
	}
	return pq.NewListenerConn(dsn, notices)
}

// executeTimeout bounds one statement on a connection of Listen.
var executeTimeout = slack.Of(5 * time.Second)

// Execute runs a statement without a result on a connection of Listen, and closes the connection if the statement takes too long.
func Execute(conn *pq.ListenerConn, statement string) error {
	late := time.AfterFunc(executeTimeout, func() { _ = conn.Close() })
	defer late.Stop()
	_, err := conn.ExecSimpleQuery(statement)
	return err
}

// RequestTimeout is how long one request may wait for the database in total: for connections, statements and commits. A statement
// that is running at that moment still has its statement_timeout.
var RequestTimeout = slack.Of(4 * time.Second)

// MaintenanceTimeout is how long a Patient statement may take.
const MaintenanceTimeout = 5 * time.Minute

// Bounded returns a context that ends after a budget: RequestTimeout minus the time that the request has already spent on the
// database. The transports call it. A context that ends earlier, or is Patient, stays unchanged.
func Bounded(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); isPatient(ctx) || ok && time.Until(end) <= budget {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithValue(ctx, unboundedKey{}, ctx), budget)
}

// Patient returns a context for jobs and for operators' maintenance: each statement may take MaintenanceTimeout, and the bound of
// a request does not apply.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(Unbounded(ctx), patientKey{}, true)
}

type patientKey struct{}

func isPatient(ctx context.Context) bool { return ctx.Value(patientKey{}) != nil }

// Unbounded undoes Bounded, for the part of a request that does not use the database and may take longer. The context still ends
// with the request.
func Unbounded(ctx context.Context) context.Context {
	outer, ok := ctx.Value(unboundedKey{}).(context.Context)
	if !ok {
		return ctx
	}
	unbounded, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(outer, func() { cancel(context.Cause(outer)) })
	return unbounded
}

type unboundedKey struct{}
