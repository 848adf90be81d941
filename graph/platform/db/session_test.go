package db

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSessionSettingsFillWhatIsOpen(t *testing.T) {
	t.Parallel()
	dsn, err := withSession("postgres://u:p%40ss@host:5432/db?sslmode=disable&statement_timeout=1")
	require.NoError(t, err)
	require.Contains(t, dsn, "statement_timeout=1&")
	require.Contains(t, dsn, "lock_timeout="+milliseconds(3000)+"&")
	require.Contains(t, dsn, "u:p%40ss@host:5432/db")

	dsn, err = withSession("host=/run user=stoa lock_timeout=7")
	require.NoError(t, err)
	require.Contains(t, dsn, "lock_timeout=7 ")
	require.Contains(t, dsn, " application_name=stoa")

	_, err = withSession("postgres://%zz")
	require.Error(t, err)
}

func TestStatementTimeoutOfAPool(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"postgres://u@host/db", "postgres://u@host/db?statement_timeout=60000&sslmode=disable"} {
		changed, err := withStatementTimeout(dsn, time.Second)
		require.NoError(t, err)
		changed, err = withSession(changed)
		require.NoError(t, err)
		require.Contains(t, changed, "statement_timeout=1000&")
		require.Equal(t, 1, strings.Count(changed, "statement_timeout="))
		require.Contains(t, changed, "u@host/db")
	}
	changed, err := withStatementTimeout("host=/run statement_timeout=60000", time.Second)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(changed, " statement_timeout=1000"))
	_, err = withStatementTimeout("postgres://%zz", time.Second)
	require.Error(t, err)
}
