package auth

import (
	"context"
	"regexp"
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
}

// NewQuery makes a Query of a statement that reads. Its first parameter is the caller, and it has this number of columns.
func NewQuery(s *db.Statement, columns int) *Query {
	return &Query{columns: columns, combined: sync.OnceValue(func() string {
		return combine(attachedText(s), columns)
	})}
}

// NewColumns makes a Query of a number of columns: the caller's row b of bots has them, or a row that joins add to it. Joins add one row
// at most. It costs a third less than a statement of its own would.
func NewColumns(columns, joins string, number int) *Query {
	text := `SELECT ` + status + `, ` + columns + ofTokens + ` ` + joins + liveToken
	return &Query{columns: number, combined: func() string { return text }, sameRow: true}
}

var parameters = regexp.MustCompile(`\$(\d+)`)

// attachedText is a statement within the one that authenticates. Its caller is the agent of me; its other parameters keep their numbers,
// since the token comes first there.
func attachedText(s *db.Statement) string {
	return parameters.ReplaceAllStringFunc(s.Text, func(found string) string {
		if found == "$1" {
			return "me.id"
		}
		return found
	})
}

// combine makes one statement of the authentication and a query, which runs unless the caller is suspended. PostgreSQL runs the parts of
// a UNION ALL in their order: the first row describes the caller and nothing else, every other one holds a row of the query and nothing
// else.
func combine(text string, columns int) string {
	return `WITH me AS MATERIALIZED (` + authenticateRead + `)
SELECT me.*` + strings.Repeat(`, NULL`, columns) + ` FROM me
UNION ALL
SELECT ` + strings.Repeat(`NULL, `, statusColumns) + `attached.*
FROM me CROSS JOIN LATERAL (` + text + `) attached WHERE NOT me.suspended`
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
	// caller is whom the rows were read for, set once all of them are read.
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
