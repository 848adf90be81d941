package auth

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Query is a statement that can be attached to the authentication of its caller.
type Query struct {
	columns int
	// combined is the text of the statement within the one that authenticates.
	combined func() string
	// sameRow: its only row is that of the caller.
	sameRow bool
	// changes: it runs with a request that changes something, and only there.
	changes bool
}

// NewQuery makes a Query of a statement that reads. Its first parameter is the caller, and it has this number of columns.
func NewQuery(s *db.Statement, columns int) *Query {
	return &Query{columns: columns, combined: sync.OnceValue(func() string {
		return combine(authenticateRead, statusColumns, attachedText(s, 0), columns, "NOT me.suspended")
	})}
}

// NewChange makes a Query of a statement that changes something by a function of the database and always returns one row. It is NewQuery
// for changes, but it runs only if nothing is left to do before: the caller is not suspended, keeps to its limit, and its activity need
// not be noted, which may decide what it may do.
func NewChange(s *db.Statement, columns int) *Query {
	return &Query{changes: true, columns: columns, combined: sync.OnceValue(func() string {
		return combine(authenticateChange, changeColumns, attachedText(s, 1), columns, "NOT me.suspended AND NOT me.stale AND me.allowed")
	})}
}

// NewColumns makes a Query of a number of columns: the caller's row b of bots has them, or a row that joins add to it. Joins add one row
// at most. It costs a third less than a statement of its own would.
func NewColumns(columns, joins string, number int) *Query {
	text := `SELECT ` + status + `, ` + columns + ofTokens + ` ` + joins + liveToken
	return &Query{columns: number, combined: func() string { return text }, sameRow: true}
}

var parameters = regexp.MustCompile(`\$(\d+)`)

// attachedText is a statement within the one that authenticates. Its caller is the agent of me. Its other parameters come after the
// token and a number of further parameters.
func attachedText(s *db.Statement, further int) string {
	return parameters.ReplaceAllStringFunc(s.Text, func(found string) string {
		if found == "$1" {
			return "me.id"
		}
		n, _ := strconv.Atoi(found[1:]) // digits
		return "$" + strconv.Itoa(n+further)
	})
}

// combine makes one statement of an authentication and a query, which runs if the condition holds for the caller. PostgreSQL runs
// the parts of a UNION ALL in their order: the first row describes the caller and nothing else, every other one holds a row of the
// query and nothing else.
func combine(authenticate string, status int, text string, columns int, condition string) string {
	return `WITH me AS MATERIALIZED (` + authenticate + `)
SELECT me.*` + strings.Repeat(`, NULL`, columns) + ` FROM me
UNION ALL
SELECT ` + strings.Repeat(`NULL, `, status) + `attached.*
FROM me CROSS JOIN LATERAL (` + text + `) attached WHERE ` + condition
}

// RowSink receives the rows of an attached query.
type RowSink interface {
	// Next puts into row where the columns of the next row go. It is called once a row, always with what it has put there before.
	Next(row []any)
}

// Piggyback is one request's use of a query that is attached to its authentication. It belongs to one request and is not safe for
// concurrent use. It decides nothing: where it is missing (GraphQL, tests, rare pages) the operation queries by itself.
type Piggyback struct {
	*Query
	RowSink

	args []any
	// caller is whom the rows were read for, set once all of them are read. A change without a row did not run.
	caller uuid.UUID
}

type piggybackKey struct{}

// Attach returns a context in which the query runs with the authentication of the caller; sink receives its rows. args follow the
// caller among the query's arguments.
func Attach(ctx context.Context, q *Query, sink RowSink, args ...any) context.Context {
	return context.WithValue(ctx, piggybackKey{}, &Piggyback{Query: q, RowSink: sink, args: args})
}

// AttachedTo returns what is attached to a context, nil for nothing.
func AttachedTo(ctx context.Context) *Piggyback {
	p, _ := ctx.Value(piggybackKey{}).(*Piggyback)
	return p
}

// ResultFrom returns the sink of a context's piggyback if it is an S and its rows were read for that caller.
func ResultFrom[S RowSink](ctx context.Context, caller uuid.UUID) (sink S, ok bool) {
	if p := AttachedTo(ctx); p != nil && p.caller != uuid.Nil && p.caller == caller {
		sink, ok = p.RowSink.(S)
	}
	return sink, ok
}
