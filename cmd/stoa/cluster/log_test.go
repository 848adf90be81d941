package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrimLog(t *testing.T) {
	t.Parallel()
	c := &Cluster{data: t.TempDir()}
	require.NoError(t, c.trimLog(100), "no log yet")
	j, err := c.openLog()
	require.NoError(t, err)
	defer j.Close()
	for _, text := range []string{strings.Repeat("first\n", 20), strings.Repeat("second\n", 20)} {
		_, err = j.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, c.trimLog(100))
		moved, err := os.ReadFile(c.logPath() + ".1")
		require.NoError(t, err)
		require.Equal(t, text, string(moved))
	}
	_, err = j.WriteString("short\n")
	require.NoError(t, err)
	require.NoError(t, c.trimLog(100))
	left, err := os.ReadFile(c.logPath())
	require.NoError(t, err)
	require.Equal(t, "short\n", string(left), "an open log goes on at its beginning")

	require.NoError(t, os.Remove(c.logPath()))
	require.NoError(t, os.Symlink("elsewhere", c.logPath()))
	_, err = c.openLog()
	require.Error(t, err)
}

// What the database says about a failed start is in the error.
func TestStartFails(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	require.NoError(t, os.WriteFile(cfg.DataDir+"/postgres/"+tuningFile, []byte("no_such_setting = 1\n"), 0o644))
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "no_such_setting")
	eventually(t, func() bool { return isStopped(t, cfg.DataDir) }, "no process is left")
}
