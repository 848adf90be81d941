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
	for _, b := range catalogue {
		original, text, err := b.planted(root)
		require.NoError(t, err)
		require.NotEqual(t, original, text, b.Name)
		require.Regexp(t, `^[A-Z][^|]*\.$`, b.Promise, b.Name)
	}
}
