package db

import (
	"testing"

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
