package inspection

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramStaysOpen: the child's program is found beside this one and can be started later, even if its file was replaced or
// deleted.
func TestProgramStaysOpen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := openProgram(filepath.Join(folder, "stoa"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "stoa-inspect, the program that inspects files, must lie beside stoa")
	require.NoError(t, os.WriteFile(filepath.Join(folder, Program), []byte("program"), 0o600))
	path, err := openProgram(filepath.Join(folder, "stoa"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(folder, Program)))
	for range 3 {
		runtime.GC()
	}
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "program", string(content))
}
