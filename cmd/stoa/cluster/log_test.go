package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A full log replaces the one before it.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	c := &Cluster{data: t.TempDir()}
	path := filepath.Join(c.data, "postgres.log")
	log, err := c.openLog()
	require.NoError(t, err)
	for _, full := range []string{"first", "second"} {
		for range logLimit/1000 + 1 {
			_, err := log.Write([]byte(strings.Repeat("x", 1000)))
			require.NoError(t, err)
		}
		_, err = log.Write([]byte(full))
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, full, string(text))
	}
	info, err := os.Stat(path + ".1")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(logLimit+2000))
	require.NoError(t, log.file.Close())

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink("elsewhere", path))
	_, err = c.openLog()
	require.Error(t, err)
}

// The error of a failed start contains the messages of the database.
func TestStartFails(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	require.NoError(t, os.WriteFile(cfg.DataDir+"/postgres/"+tuningFile, []byte("no_such_setting = 1\n"), 0o644))
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "no_such_setting")
	eventually(t, func() bool { return isStopped(t, cfg.DataDir) }, "no process is left")
}
