package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The command runs as superuser beside a database that is gone afterwards, and passes its exit code on.
func TestTestCluster(t *testing.T) {
	t.Parallel()
	temporary := "TMPDIR=" + t.TempDir()
	code, out, complaint := outcome(t, []string{"test-cluster", "--", "sh", "-c", "echo $STOA_TEST_DATABASE_URL; exit 7"}, temporary)
	require.Equal(t, 7, code, complaint)
	require.True(t, strings.HasPrefix(out, "postgres://stoa@/stoa?host="), out)
	left, err := os.ReadDir(strings.TrimPrefix(temporary, "TMPDIR="))
	require.NoError(t, err)
	require.Empty(t, left)

	code, _, complaint = outcome(t, []string{"test-cluster", "--", "no-such-program"}, temporary)
	require.Equal(t, exitFailure, code)
	require.Contains(t, complaint, "no-such-program")
}
