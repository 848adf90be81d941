package graphtest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"stoa/graph/platform/db"
)

// Statement returns the named statement of the program, so that a test can examine its plan.
func Statement(name string) *db.Statement {
	all := slices.DeleteFunc(db.Loaded(), func(s *db.Statement) bool { return s.Name != name })
	if len(all) != 1 {
		panic(fmt.Sprintf("%d statements have the name %s", len(all), name))
	}
	return all[0]
}

// RowsRead runs a statement and counts the rows of a table that it reads, by sequential scans and by index scans.
func (w *World) RowsRead(table string, statement *db.Statement, args ...any) int64 {
	return w.RowsReadBy(table, func(on db.Querier) error {
		return db.Each(context.Background(), on, func(*sql.Rows) error { return nil }, statement, args...)
	})
}

// RowsReadBy counts the rows that all statements of a function read.
func (w *World) RowsReadBy(table string, read func(on db.Querier) error) int64 {
	ctx := context.Background()
	conn := Got(w.DB.SQL.Pool.Conn(ctx))(w.t)
	defer conn.Close() //nolint:errcheck // it returns to the pool
	// counted includes earlier statements of the connection that it has not reported yet.
	counted := func() (rows int64) {
		require.NoError(w.t, conn.QueryRowContext(ctx, `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
			FROM pg_stat_xact_user_tables WHERE relname = $1`, table).Scan(&rows))
		return rows
	}
	OK(w.t)(conn.ExecContext(ctx, "BEGIN")) // within a transaction nothing is reported
	defer conn.ExecContext(ctx, "ROLLBACK") //nolint:errcheck // it ends with the connection otherwise
	before := counted()
	require.NoError(w.t, read(conn))
	return counted() - before
}

// Traces returns the columns of the database, as table.column, in which some row holds a text, in upper or lower case. It
// searches every column of every table that can hold text: also arrays, JSON, bytes and derived columns.
func (w *World) Traces(text string) (found []string) {
	searches := Column[string](w, `SELECT format('SELECT %L FROM %I.%I WHERE position(lower($1) IN lower(%s)) > 0 LIMIT 1',
			c.table_name || '.' || c.column_name, c.table_schema, c.table_name,
			format(CASE WHEN c.udt_name LIKE '%bytea' THEN 'encode(%I, ''escape'')' ELSE '%I::text' END, c.column_name))
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE t.table_type = 'BASE TABLE' AND c.table_schema NOT IN ('pg_catalog', 'information_schema')
		AND c.udt_name IN ('text', 'varchar', 'bpchar', 'name', 'json', 'jsonb', 'bytea', '_text', '_varchar', '_bytea', 'tsvector', 'xml')`)
	require.Greater(w.t, len(searches), 100)
	for _, search := range searches {
		found = append(found, Column[string](w, search, text)...)
	}
	slices.Sort(found)
	return found
}

// Files returns the bytes of the database's relations by their names: of indexes (kind i) or of tables (r), after a vacuum.
func (w *World) Files(kind string) map[string][]byte {
	superuser := connect(w.t, w.name)
	defer superuser.Close()
	run(w.t, superuser, "VACUUM")
	run(w.t, superuser, "CHECKPOINT")
	rows := Got(superuser.Query(`SELECT relname, pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class
		WHERE relkind = $1 AND relnamespace <> 'pg_catalog'::regnamespace AND pg_relation_size(oid) > 0`, kind))(w.t)
	defer rows.Close()
	files := make(map[string][]byte)
	for rows.Next() {
		var name string
		var raw []byte
		require.NoError(w.t, rows.Scan(&name, &raw))
		files[name] = raw
	}
	require.NoError(w.t, rows.Err())
	return files
}

// searchedLetters are the letters that LIKE, trigrams, normal forms or letter case could handle wrongly.
var searchedLetters = []rune("aAbBc_%\\é京жЖ -1eE\u0301σΣςßẞsİiı\u0307ﬁfᾳΑα\u0345ι") //nolint:gosmopolitan // one letter of three bytes

// SearchedText draws texts of least to 24 characters, for searches.
func SearchedText(least int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom(searchedLetters), least, 24, -1)
}

// SearchQuery draws a search for texts: mostly a part of one of them in any case, sometimes nothing or another text.
func SearchQuery(t *rapid.T, texts ...string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
	switch choice := rapid.IntRange(0, 5).Draw(t, "choice of query"); {
	case choice == 0:
		return ""
	case choice == 1 || len(texts) == 0:
		return rapid.StringOfN(rapid.SampledFrom(searchedLetters), 1, 8, -1).Draw(t, "query")
	default:
		of := []rune(rapid.SampledFrom(texts).Draw(t, "searched text"))
		from := rapid.IntRange(0, len(of)-1).Draw(t, "from")
		part := string(of[from:rapid.IntRange(from+1, len(of)).Draw(t, "to")])
		return rapid.SampledFrom([]string{part, strings.ToUpper(part), strings.ToLower(part)}).Draw(t, "query")
	}
}

// Matches reports whether a search for q finds a text: as a substring, by the caseless match of Unicode (D145) in normal form C.
func Matches(text, q string) bool { return strings.Contains(Folded(text), Folded(q)) }

// Folded returns a text in the form that searches compare.
func Folded(s string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(s))) }
