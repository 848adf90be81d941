package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

func requireEmptyFolder(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// Only serve makes a database. In a folder without one every other command that needs it fails, says why, and leaves nothing
// there.
func TestOnlyServeMakesADatabase(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"backup"}, {"backup", "make"}, {"backup", "make", "--with-key"}, {"backup", "list"}, {"backup", "verify"},
		{"backup", "restore"}, {"backup", "restore", "--replace", "--from=."}, {"migrate"}, {"migrate", "--plan"}, {"seed"},
		{"key"}, {"key", "accept"},
	} {
		folder := t.TempDir()
		code, out, stderr := runIn(t, folder, args)
		require.Equal(t, exitFailure, code, args)
		require.Empty(t, out)
		require.Contains(t, stderr, "stoa: there is no database in "+filepath.Join(folder, "data", "postgres"), args)
		require.Contains(t, stderr, "stoa serve make")
		requireEmptyFolder(t, folder)
	}
	folder := t.TempDir()
	code, _, stderr := runIn(t, folder, []string{"operator", "settings"})
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "no token")
	require.Contains(t, stderr, "data/operator.token")
	requireEmptyFolder(t, folder)
}

// A backup in another folder than the server's would lack the files.
func TestABackupNeedsTheFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	code, _, stderr := runIn(t, folder, []string{"backup"}, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "there is no folder "+filepath.Join(folder, "data", "files"))
	requireEmptyFolder(t, folder)

	code, _, stderr = runIn(t, folder, []string{"backup", "list"}, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "there are no backups: there is no folder "+filepath.Join(folder, "data", "backups"))
	requireEmptyFolder(t, folder)
}

// A backup of an empty database says so: one without agents is made all the same, one without tables is not.
func TestBackupOfAnEmptyDatabase(t *testing.T) {
	nightly(t)
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, makeCluster(folder))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "files"), 0o700))
	data := "STOA_DATA_DIR=" + folder
	require.Contains(t, complaint(t, []string{"backup"}, data), "the database is empty: it has no tables")
	output(t, []string{"migrate"}, data)
	require.Contains(t, output(t, []string{"backup"}, data), "The database is empty: it holds no agent.")
	require.Regexp(t, `(?m)  no agents$`, output(t, []string{"backup", "list"}, data))
}

// No variable of the environment makes a restore delete, leave out or change anything.
func TestVariablesDoNotArmARestore(t *testing.T) {
	nightly(t)
	t.Parallel()
	data := migratedData(t)
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	own := "STOA_DATA_DIR=" + data
	output(t, []string{"backup"}, own)
	refused := complaint(t, []string{"backup", "restore"}, own, "STOA_REPLACE=true", "STOA_SKIP_DAMAGED=true", "STOA_WITH_KEY=true",
		"STOA_NEW_KEY=true", "STOA_FROM=/nonexistent")
	require.Contains(t, refused, "the database is not empty")
	require.Contains(t, output(t, []string{"migrate"}, own, "STOA_PLAN=true"), "is at the schema")
}
