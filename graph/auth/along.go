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
	// Columns are where the columns of each row go; one of them at least cannot hold null.
	Columns() []any
	// Next takes the row that was scanned into them.
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

// scan returns what scans the rows of a text: those of the read, or the holder alone if the read has none and its columns are null.
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

// isNull takes a column of any type and keeps only whether it is null.
type isNull bool

func (n *isNull) Scan(value any) error {
	*n = value == nil
	return nil
}
