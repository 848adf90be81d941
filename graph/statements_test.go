package graph_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// Every statement in the domains' .sql files fits the schema, and its parameters have the types of its heading.
func TestStatementsFitTheSchema(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	conn, err := w.DB.SQL.Pool.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	for _, s := range db.Loaded() {
		_, err := conn.ExecContext(t.Context(), "PREPARE "+s.Name+" AS "+s.Text)
		require.NoError(t, err, "%s: %s", s.Name, s.Text)
		var types pq.StringArray
		require.NoError(t, conn.QueryRowContext(t.Context(),
			"SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1", s.Name).Scan(&types))
		require.Equal(t, s.Types, append([]string(nil), types...), "the heading of %s", s.Name)
		_, err = conn.ExecContext(t.Context(), "DEALLOCATE "+s.Name)
		require.NoError(t, err)
	}
}

var (
	statementNames = regexp.MustCompile(`(?m)^-- name: (\w+)`)
	statementUses  = regexp.MustCompile(`\b[nN]amed\("(\w+)"\)`)
)

// Every statement that a package names is in its .sql files. Otherwise a wrong name would fail only at its first call.
func TestStatementsAreThere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.sql")
	require.NoError(t, err)
	for _, folder := range append(files, "../jobs/jobs.sql") {
		folder = filepath.Dir(folder)
		there := matches(t, folder+"/*.sql", statementNames)
		for _, name := range matches(t, folder+"/*.go", statementUses) {
			require.Contains(t, there, name, "%s names a statement that is not in its files", folder)
		}
	}
}

// matches returns the first groups of all matches in some files, without test files.
func matches(t *testing.T, pattern string, of *regexp.Regexp) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, match := range of.FindAllSubmatch(raw, -1) {
			all = append(all, string(match[1]))
		}
	}
	return all
}
