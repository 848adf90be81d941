// Package postgres says where PostgreSQL's time goes: statements, functions of its program, tables and indexes that are written,
// the log of changes, and plans. It needs the database of world.NewObserved.
package postgres

import (
	"context"
	"database/sql"
	"strings"
)

// Statement sums up the calls of one statement since the last Reset.
type Statement struct {
	Text string
	// Inner statements run inside of functions and triggers, so that the statement around them counts their time too.
	Inner bool
	Calls float64
	// Micros is the elapsed time of all calls, in microseconds. It includes waiting for a processor.
	Micros float64
	Rows   float64
	// Hit, Read and Dirtied count buffers, WAL bytes of the log of changes.
	Hit, Read, Dirtied, WAL float64
}

// Prepare creates the extensions.
func Prepare(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; CREATE EXTENSION IF NOT EXISTS pg_walinspect")
	return err
}

// Reset begins to count statements anew.
func Reset(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "SELECT pg_stat_statements_reset()")
	return err
}

const selectStatements = `
SELECT query, NOT toplevel, sum(calls), 1000 * sum(total_exec_time), sum(rows), sum(shared_blks_hit), sum(shared_blks_read),
  sum(shared_blks_dirtied), sum(wal_bytes)
FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat_statements%'
GROUP BY 1, 2 ORDER BY 4 DESC`

// Statements returns all statements since the last Reset, those that took longest first.
func Statements(ctx context.Context, db *sql.DB) ([]Statement, error) {
	rows, err := db.QueryContext(ctx, selectStatements)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Statement
	for rows.Next() {
		var s Statement
		if err := rows.Scan(&s.Text, &s.Inner, &s.Calls, &s.Micros, &s.Rows, &s.Hit, &s.Read, &s.Dirtied, &s.WAL); err != nil {
			return nil, err
		}
		s.Text = Brief(s.Text)
		all = append(all, s)
	}
	return all, rows.Err()
}

const (
	// briefLength is the most characters of a statement on the page, headLength those of its beginning if something is left out.
	briefLength = 120
	headLength  = 45
)

// Brief shortens a statement to one line: how it begins, and what it is about.
func Brief(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		words = append(words, strings.Fields(code)...)
	}
	text = strings.Join(words, " ")
	runes := []rune(text)
	if len(runes) <= briefLength {
		return text
	}
	head := string(runes[:headLength])
	if at := strings.LastIndexByte(head, ' '); at > 0 {
		head = head[:at]
	}
	rest := text[len(head):]
	if at := strings.Index(rest, " FROM "); at >= 0 {
		rest = rest[at:]
	}
	tail := []rune(rest)
	const marks = 4 // two spaces and ellipses
	if keep := briefLength - len([]rune(head)) - marks; len(tail) > keep {
		tail = append(tail[:keep], []rune(" …")...)
	}
	return head + " …" + string(tail)
}
