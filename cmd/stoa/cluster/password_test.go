package cluster

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// withoutPassword returns the URL without its password, as an account has it that only reaches the socket.
func withoutPassword(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	query := parsed.Query()
	query.Del("passfile")
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// downgrade stops a cluster and gives it the role and pg_hba.conf of versions without a password.
func downgrade(t *testing.T, c *Cluster) {
	t.Helper()
	execSQL(t, connect(t, c.URL()+flushed), "ALTER ROLE stoa PASSWORD NULL")
	stop(t, c)
	hba := filepath.Join(c.folder, hbaFile)
	require.NoError(t, os.WriteFile(hba, []byte("# Written by stoa.\nlocal stoa stoa trust\n"), 0o600))
	require.NoError(t, os.Remove(c.passwordPath()))
}

// requireSecured requires that the URL opens the cluster with every driver, and that nothing else does.
func requireSecured(t *testing.T, c *Cluster) {
	t.Helper()
	db := connect(t, c.URL())
	require.Equal(t, 42, queryValue[int](t, db, "SELECT n FROM kept"))
	conn, err := pgx.Connect(t.Context(), c.URL())
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	bare := withoutPassword(t, c.URL())
	eventually(t, func() bool { return connect(t, bare).PingContext(t.Context()) != nil }, "reaching the socket is not enough")
	wrong := strings.Replace(bare, "stoa@", "stoa:guess@", 1)
	require.ErrorContains(t, connect(t, wrong).PingContext(t.Context()), "password authentication failed")

	info, err := os.Stat(filepath.Join(c.data, passwordFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NotContains(t, c.URL(), passwordOf(t, c))
}

func passwordOf(t *testing.T, c *Cluster) string {
	t.Helper()
	line, err := os.ReadFile(c.passwordPath())
	require.NoError(t, err)
	return strings.TrimPrefix(strings.TrimSpace(string(line)), "*:*:*:stoa:")
}

// A program that reaches the socket needs the password as well, also on a cluster of a version that had none, and on one whose
// password file was lost.
func TestPassword(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	first := start(t, cfg)
	execSQL(t, connect(t, first.URL()+flushed), "CREATE TABLE kept AS SELECT 42 AS n")
	requireSecured(t, first)

	downgrade(t, first)
	second := start(t, cfg)
	requireSecured(t, second)
	kept := passwordOf(t, second)
	stop(t, second)
	again := start(t, cfg)
	require.Equal(t, kept, passwordOf(t, again))
	stop(t, again)

	require.NoError(t, os.Remove(again.passwordPath()))
	last := start(t, cfg)
	require.NotEqual(t, kept, passwordOf(t, last))
	requireSecured(t, last)
	stop(t, last)

	require.NoError(t, os.WriteFile(last.passwordPath(), []byte("nonsense\n"), 0o600))
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "remove "+last.passwordPath())
}
