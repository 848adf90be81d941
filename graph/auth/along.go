package auth

import (
	"database/sql"
	"slices"
	"strings"

	"stoa/graph/platform/db"
)

// Along is a read that runs in the statement that authenticates its caller: one round trip instead of two. Authenticate puts the
// rows into viewer.Viewer.Along. If they are missing there, as over GraphQL, the method reads by itself.
type Along struct {
	text string
	rows func() AlongRows
}

// AlongRows receives the rows of one request.
type AlongRows interface {
	// Columns returns the destinations of each row's columns. At least one of them cannot hold null.
	Columns() []any
	// Next stores the row that was scanned into the columns.
	Next()
}

// NewAlong makes an Along of a statement whose only parameter is the caller.
func NewAlong[T AlongRows](s *db.Statement, rows func() T) *Along {
	read := strings.ReplaceAll(s.Text, "$1", "me.bot_id")
	return &Along{
		text: "WITH me AS MATERIALIZED (" + named("authenticate").Text + ") SELECT * FROM me LEFT JOIN LATERAL (" + read + ") read ON true",
		rows: func() AlongRows { return rows() },
	}
}

// scan returns a function that scans one row. If the read has no rows, its columns are null and only the holder is scanned.
func (l *Along) scan(into AlongRows, holder []any) func(*sql.Rows) error {
	read := into.Columns()
	columns, ignored := slices.Concat(holder, read), new(isNull)
	return func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			nulls := make([]isNull, len(read))
			for i := range nulls {
				columns[len(holder)+i] = &nulls[i]
			}
			if rows.Scan(columns...) != nil || slices.Contains(nulls, false) {
				return err
			}
			return nil
		}
		for i := range holder {
			columns[i] = ignored // the other rows repeat it
		}
		into.Next()
		return nil
	}
}

// isNull accepts a column of any type and records only whether it is null.
type isNull bool

func (n *isNull) Scan(value any) error {
	*n = value == nil
	return nil
}
