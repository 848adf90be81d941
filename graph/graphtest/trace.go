package graphtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// Traces returns the columns of the database, as table.column, in which some row holds a text, in whatever case. It looks into
// every column of every table that can hold text: also arrays, JSON, bytes, and what is derived from others.
func (w *World) Traces(text string) (found []string) {
	w.t.Helper()
	rows, err := w.DB.SQL.Pool.Query(`SELECT c.table_schema, c.table_name, c.column_name, c.udt_name
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE t.table_type = 'BASE TABLE' AND c.table_schema NOT IN ('pg_catalog', 'information_schema')
		AND c.udt_name IN ('text', 'varchar', 'bpchar', 'name', 'json', 'jsonb', 'bytea', '_text', '_varchar', '_bytea', 'tsvector', 'xml')`)
	require.NoError(w.t, err)
	defer rows.Close()
	var all [][4]string
	for rows.Next() {
		var c [4]string
		require.NoError(w.t, rows.Scan(&c[0], &c[1], &c[2], &c[3]))
		all = append(all, c)
	}
	require.NoError(w.t, rows.Err())
	require.Greater(w.t, len(all), 100)
	for _, c := range all {
		column := fmt.Sprintf("%q::text", c[2])
		if strings.HasSuffix(c[3], "bytea") {
			column = fmt.Sprintf("encode(%q, 'escape')", c[2])
		}
		query := fmt.Sprintf("SELECT count(*) FROM %q.%q WHERE position(lower($1) IN lower(%s)) > 0", c[0], c[1], column)
		if w.Count(query, text) > 0 {
			found = append(found, c[1]+"."+c[2])
		}
	}
	slices.Sort(found)
	return found
}
