package auth

import (
	"database/sql"
	"slices"
	"strings"

	"stoa/graph/platform/db"
)

// Along is a read that runs in the statement that authenticates its caller: one round trip instead of two. Authenticate puts the
// rows into viewer.Viewer.Along; a method that does not find them there, as over GraphQL, reads by itself.
type Along struct {
	text string
	rows func() AlongRows
}

// AlongRows takes the rows of one request.
type AlongRows interface {
	// Next scans a row. Its first columns go to holder.
	Next(rows *sql.Rows, holder []any) error
}

// NewAlong makes an Along of a statement whose only parameter is the caller.
func NewAlong[T AlongRows](s *db.Statement, rows func() T) *Along {
	read := strings.ReplaceAll(s.Text, "$1", "me.bot_id")
	return &Along{
		text: "WITH me AS MATERIALIZED (" + named("authenticate").Text + ") SELECT * FROM me LEFT JOIN LATERAL (" + read + ") read ON true",
		rows: func() AlongRows { return rows() },
	}
}

// scan returns what scans the rows of a text: those of the read, or the holder alone if the read has none and its columns are null.
func (l *Along) scan(into AlongRows, holder []any) func(*sql.Rows) error {
	empty := false
	first := func(rows *sql.Rows) error {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		columns := slices.Concat(holder, slices.Repeat([]any{new(isNull)}, len(names)-len(holder)))
		found := new(isNull)
		columns[len(holder)] = found
		err = rows.Scan(columns...)
		empty = bool(*found)
		return err
	}
	return func(rows *sql.Rows) error {
		if first != nil {
			if err := first(rows); err != nil || empty {
				return err
			}
			first, holder = nil, slices.Repeat([]any{new(isNull)}, len(holder)) // the other rows repeat it
		}
		return into.Next(rows, holder)
	}
}

// isNull takes a column of any type and keeps only whether it is null.
type isNull bool

// Scan implements sql.Scanner.
func (n *isNull) Scan(value any) error {
	*n = value == nil
	return nil
}
