package graph_test

import (
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// Every statement in the domains' .sql files fits the schema, and its parameters have the types that its heading says.
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
