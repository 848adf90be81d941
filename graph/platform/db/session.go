package db

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// session is what every connection is opened with. The timeouts, in milliseconds, bound what one stuck statement, lock or
// transaction can hold up; each shows as service_unavailable, within RequestTimeout. Work that may take longer says so
// (WithStatementTimeout).
var session = []struct{ name, value string }{
	{"application_name", "stoa"},
	{"timezone", "UTC"},
	{"statement_timeout", "3500"},
	{"lock_timeout", "3000"},
	{"idle_in_transaction_session_timeout", "5000"},
	// The server ends a statement whose connection was closed, which is how the driver gives one up.
	{"client_connection_check_interval", "1000"},
	{"connect_timeout", "4"}, // seconds
	// No statement here runs long enough to earn back a compilation, but the guesses of a kept plan can promise so.
	{"jit", "off"},
}

// withSession adds the session settings that the connection string, in either of its two forms, leaves open.
func withSession(dsn string) (string, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		for _, s := range session {
			if !strings.Contains(dsn, s.name+"=") {
				dsn += " " + s.name + "=" + s.value
			}
		}
		return dsn, nil
	}
	parsed, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	query := parsed.Query()
	for _, s := range session {
		if !query.Has(s.name) {
			query.Set(s.name, s.value)
		}
	}
	parsed.RawQuery = query.Encode()
	return parsed.String(), nil
}

// withStatementTimeout puts a timeout into the connection string, in place of one that is there.
func withStatementTimeout(dsn string, timeout time.Duration) (string, error) {
	milliseconds := strconv.FormatInt(timeout.Milliseconds(), 10)
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " statement_timeout=" + milliseconds, nil // the last one counts
	}
	parsed, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	query := parsed.Query()
	query.Set("statement_timeout", milliseconds)
	parsed.RawQuery = query.Encode()
	return parsed.String(), nil
}
