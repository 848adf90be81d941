package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The command gets the URL of a superuser, its exit code is passed on, and nothing of the cluster is left.
func TestTestCluster(t *testing.T) {
	nightly(t)
	t.Parallel()
	temporary := "TMPDIR=" + t.TempDir()
	code, out, stderr := runProgram(t, []string{"test-cluster", "--", "sh", "-c", "echo $STOA_TEST_DATABASE_URL; exit 7"}, temporary)
	require.Equal(t, 7, code, stderr)
	require.True(t, strings.HasPrefix(out, "postgres://stoa@/stoa?host="), out)
	left, err := os.ReadDir(strings.TrimPrefix(temporary, "TMPDIR="))
	require.NoError(t, err)
	require.Empty(t, left)

	require.Contains(t, complaint(t, []string{"test-cluster", "--", "no-such-program"}, temporary), "no-such-program")
}
