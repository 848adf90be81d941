package prepared

import (
	"errors"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Stale reports whether err says that a cached statement no longer fitted the
// schema and that the transaction it ran in, if any, has failed for it. The
// statement is gone and has done nothing: rolling back and running the
// transaction (or the single statement) again prepares it anew. Bound the
// repetitions: a value that does not fit its column can be taken for a stale
// statement once a connection. The *pq.Error stays in err's chain.
func Stale(err error) bool {
	_, ok := errors.AsType[*staleError](err)
	return ok
}

type staleError struct{ err error }

func (e *staleError) Error() string { return "prepared: stale statement: " + e.err.Error() }
func (e *staleError) Unwrap() error { return e.err }

// sign is one way in which PostgreSQL refuses a statement that was prepared
// before the schema changed. All of them come before the statement has run.
type sign struct {
	seen func(*pq.Error) bool
	// certain: believed of a statement prepared a moment ago as well.
	certain bool
	// schema: other statements and connections are in doubt, too.
	schema bool
}

var signs = []sign{
	// The result has other columns or types than at preparation. Messages are
	// translated, routine names are not.
	{certain: true, schema: true, seen: func(e *pq.Error) bool {
		return e.Code == pqerror.FeatureNotSupported &&
			(e.Routine == "RevalidateCachedQuery" || e.Message == "cached plan must not change result type")
	}},
	// DEALLOCATE ALL, DISCARD ALL.
	{certain: true, schema: true, seen: func(e *pq.Error) bool {
		return e.Code == pqerror.InvalidSQLStatementName
	}},
	// The parameters' types, fixed at preparation, fit the columns no more, or
	// a name is gone. Only the parser gives a position; a syntax error within a
	// value (to_tsquery) has none.
	{schema: true, seen: func(e *pq.Error) bool {
		return e.Code.Class() == pqerror.ClassSyntaxErrorOrAccessRuleViolation && e.Position != ""
	}},
	// A parameter's type was dropped.
	{schema: true, seen: func(e *pq.Error) bool {
		return e.Code == pqerror.InternalError && strings.HasPrefix(e.Message, "cache lookup failed for ")
	}},
	// A value does not go into the parameter's type ("unnamed portal parameter
	// $1", in any language). Mostly the value is at fault, but the column may
	// have been widened since (int to bigint); only this statement is doubted.
	{schema: false, seen: func(e *pq.Error) bool {
		return e.Code.Class() == pqerror.ClassDataException && strings.Contains(e.Where, "$")
	}},
}

// signOf finds what err says of a statement; reused reports whether that was
// prepared by an earlier call.
func signOf(err error, reused bool) (sign, bool) {
	e := pq.As(err)
	if e == nil {
		return sign{}, false
	}
	for _, s := range signs {
		if (reused || s.certain) && s.seen(e) {
			return s, true
		}
	}
	return sign{}, false
}
