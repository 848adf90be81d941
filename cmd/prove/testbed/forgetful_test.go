package testbed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mounted mounts a forgetful file system, if this process may.
func mounted(t *testing.T) (*forgetful, string) {
	t.Helper()
	folder, below := t.TempDir(), t.TempDir()
	f, err := mountForgetful(folder, below)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, fs.ErrNotExist) {
		t.Skip("mounting with FUSE needs root and /dev/fuse")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.server.Unmount()) })
	return f, folder
}

// put writes a file as a program does that syncs what is named: the file, its folder.
func put(t *testing.T, path, text string, syncFile, syncFolder bool) {
	t.Helper()
	file, err := os.Create(path + ".tmp")
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	if syncFile {
		require.NoError(t, file.Sync())
	}
	require.NoError(t, file.Close())
	require.NoError(t, os.Rename(path+".tmp", path))
	if syncFolder {
		syncDir(t, filepath.Dir(path))
	}
}

func syncDir(t *testing.T, path string) {
	t.Helper()
	folder, err := os.Open(path)
	require.NoError(t, err)
	require.NoError(t, folder.Sync())
	require.NoError(t, folder.Close())
}

// What was synced, with its name, survives a loss of power; what was not is lost.
func TestForgetfulLosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	f, folder := mounted(t)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "old"), 0o700))
	syncDir(t, folder)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "new"), 0o700))
	at := func(name string) string { return filepath.Join(folder, name) }
	put(t, at("old/whole"), "kept", true, true)
	put(t, at("old/bytes"), "lost", false, true)
	put(t, at("old/again"), "first", true, true)
	require.NoError(t, os.Remove(at("old/bytes")))
	put(t, at("old/bytes"), "lost", false, true)
	put(t, at("new/whole"), "lost", true, true)
	put(t, at("old/name"), "lost", true, false)
	put(t, at("old/again"), "second", true, false)
	require.NoError(t, f.lose())
	for name, want := range map[string]string{"old/whole": "kept", "old/bytes": "", "old/again": "first"} {
		got, err := os.ReadFile(at(name))
		require.NoError(t, err, name)
		require.Equal(t, want, string(got), name)
	}
	for _, name := range []string{"old/name", "new/whole", "new"} {
		_, err := os.Stat(at(name))
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	put(t, at("old/name"), "kept", true, true)
	require.NoError(t, f.lose())
	got, err := os.ReadFile(at("old/name"))
	require.NoError(t, err)
	require.Equal(t, "kept", string(got))
}
