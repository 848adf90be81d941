package cluster

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A machine without the preferred locale says so in a way that initialise
// understands, and the next one in the list works everywhere.
func TestLocales(t *testing.T) {
	nightly(t)
	t.Parallel()
	data := t.TempDir()
	c := &Cluster{config: config(data), log: slog.New(slog.DiscardHandler), data: data, folder: filepath.Join(data, "postgres")}
	var err error
	c.account, err = chooseAccount(c.data, c.folder)
	require.NoError(t, err)
	c.programs, err = defaultPaths.find(t.Context(), 0)
	require.NoError(t, err)
	require.ErrorContains(t, c.build(t.Context(), "no_SUCH.place"), "locale")
	require.Empty(t, unfinishedIn(t, data))
	require.NoError(t, c.build(t.Context(), locales[len(locales)-1]))

	running := start(t, config(data))
	db := connect(t, running.URL())
	require.Equal(t, "UTF8", queryValue[string](t, db, "SHOW server_encoding"))
	require.Equal(t, "C", queryValue[string](t, db, "SELECT datcollate FROM pg_database WHERE datname = 'stoa'"))
}
