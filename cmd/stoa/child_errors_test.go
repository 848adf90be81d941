package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stoa/graph/graphtest"
)

// freePorts let a server listen beside all others.
var freePorts = []string{"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0"}

// failing is a program that prints much and fails.
const failing = `#!/bin/sh
case $1 in --version) echo "$(basename "$0") (PostgreSQL) %d.0"; exit ;; esac
i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo "line $i of $(basename "$0")" >&2; done
echo "$(basename "$0"): error: No space left on device" >&2
exit 1
`

// failingPrograms returns a PATH with PostgreSQL programs of a version that all fail.
func failingPrograms(t *testing.T, version int) string {
	t.Helper()
	folder := t.TempDir()
	programs := map[string]string{"pg_config": "#!/bin/sh\necho '" + folder + "'\n"}
	for _, name := range []string{"postgres", "initdb", "pg_dump", "pg_restore"} {
		programs[name] = fmt.Sprintf(failing, version)
	}
	for name, text := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700))
		require.NoError(t, os.Chmod(filepath.Join(folder, name), 0o755)) // an account that is not ours may run it
	}
	for _, own := range []string{filepath.Dir(folder), folder} { // t.TempDir made both
		require.NoError(t, os.Chmod(own, 0o755))
	}
	return "PATH=" + folder + ":" + os.Getenv("PATH")
}

// The last lines of a program that fails are in the error, and not all that it has printed.
func TestErrorsOfChildProgramsAreShown(t *testing.T) {
	nightly(t)
	t.Parallel()
	path := failingPrograms(t, 99)
	data := t.TempDir()
	database := "STOA_DATABASE_URL=" + graphtest.NewDatabase(t)
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	code, _, stderr := runProgram(t, []string{"backup"}, database, "STOA_DATA_DIR="+data)
	require.Zero(t, code, stderr)
	for _, c := range []struct { // the restore comes last: it empties the database before it fails
		program  string
		args     []string
		settings []string
	}{
		{"pg_dump", []string{"backup"}, []string{database, "STOA_DATA_DIR=" + data}},
		{"initdb", []string{"serve"}, append([]string{"STOA_DATA_DIR=" + t.TempDir()}, freePorts...)},
		{"pg_restore", []string{"backup", "restore", "--replace"}, []string{database, "STOA_DATA_DIR=" + data}},
	} {
		code, _, stderr := runProgram(t, c.args, append(c.settings, path)...)
		require.Equal(t, exitFailure, code, stderr)
		require.Contains(t, stderr, "\nline 399 of "+c.program+"\nline 400 of "+c.program+"\n"+c.program+": error: No space left on device\n")
		require.NotContains(t, stderr, "line 100 of")
		require.Less(t, len(stderr), 4<<10)
	}
}

// A disk that is full is named as the reason. Only root can make one.
func TestFullDisksAreNamed(t *testing.T) {
	nightly(t)
	t.Parallel()
	data := migratedData(t)
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	smallDisk(t, filepath.Join(data, "backups"), "64k")
	code, _, stderr := runProgram(t, []string{"backup"}, "STOA_DATA_DIR="+data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "pg_dump: ")
	require.Contains(t, stderr, "No space left on device")

	small := filepath.Join(t.TempDir(), "data")
	smallDisk(t, small, "8m")
	code, _, stderr = runProgram(t, []string{"serve"}, append([]string{"STOA_DATA_DIR=" + small}, freePorts...)...)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "initdb: ")
	require.Contains(t, stderr, "No space left on device")
}

// smallDisk mounts a file system of that size in a new folder.
func smallDisk(t *testing.T, folder, size string) {
	t.Helper()
	require.NoError(t, os.Mkdir(folder, 0o700))
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("this account cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(folder, unix.MNT_DETACH)) })
}
