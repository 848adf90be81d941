package fault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/lib/pq"

	"stoa/ent"
)

// unavailableStates holds the SQLSTATE classes and codes of a database that is down, starting, stopping or overloaded, and of
// cancelled statements. The caller should retry later, as after every FATAL error, which refuses or ends a session.
var unavailableStates = map[string]bool{
	"08": true, "53": true, "57": true, "58": true,
	"40001": true, "40P01": true, "55P03": true, "25006": true,
}

// refusals maps the SQLSTATEs with which database functions refuse a change. Their message is for the client, their detail is
// Retry-After in seconds.
var refusals = map[string]Code{"ST001": WriteLimited, "ST002": StorageQuotaExceeded}

// From classifies any error. It returns a fault unchanged. Any other error becomes the cause of service_unavailable, not_found,
// internal_error or one of refusals. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	if refused, ok := errors.AsType[*pq.Error](err); ok && refusals[string(refused.Code)] != "" {
		seconds, _ := strconv.ParseFloat(refused.Detail, 64) // empty if waiting does not help
		return Wrap(refusals[string(refused.Code)], err).Say(refused.Message).After(time.Duration(math.Ceil(seconds)) * time.Second)
	}
	return &Error{Code: classify(err), cause: err}
}

func classify(err error) Code {
	var (
		postgres *pq.Error
		network  *net.OpError
		missing  *ent.NotFoundError
	)
	switch {
	case errors.As(err, &missing), errors.Is(err, sql.ErrNoRows):
		return NotFound
	case errors.As(err, &postgres):
		if postgres.Severity == "FATAL" || unavailableStates[string(postgres.Code)] || unavailableStates[string(postgres.Code.Class())] {
			return ServiceUnavailable
		}
		return InternalError
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ServiceUnavailable
	default:
		return InternalError
	}
}
