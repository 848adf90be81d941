package selftest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository's.
var root = filepath.Join("..", "..", "..")

// Every row fits the file that it names, and changes it.
func TestCatalogueFitsTheRepository(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(catalogue), 40)
	seen := make(map[string]bool)
	for _, b := range catalogue {
		_, text, err := b.planted(root)
		require.NoError(t, err)
		require.NotEqual(t, b.Old, b.New, b.Name)
		require.Contains(t, text, b.New, b.Name)
		require.False(t, seen[b.Name], b.Name)
		seen[b.Name] = true
		require.Regexp(t, `^[A-Z][^|]*\.$`, b.Promise, b.Name)
	}
}
