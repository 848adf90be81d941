package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// Every statement in the domains' .sql files fits the schema, and its parameters have the types that its heading says.
func TestStatementsFitTheSchema(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	conn, err := w.DB.SQL.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	for _, s := range db.Loaded() {
		types := ""
		if len(s.Types) > 0 {
			types = "(" + strings.Join(s.Types, ", ") + ")"
		}
		_, err := conn.ExecContext(t.Context(), "PREPARE "+s.Name+types+" AS "+s.Text)
		require.NoError(t, err, "%s: %s", s.Name, s.Text)
		_, err = conn.ExecContext(t.Context(), "DEALLOCATE "+s.Name)
		require.NoError(t, err)
	}
}
