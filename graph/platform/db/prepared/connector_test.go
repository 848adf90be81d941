package prepared_test

import (
	"database/sql"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

func TestConnectorRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dsn  string
		opts []prepared.Option
		says string
	}{
		{"dbname=x binary_parameters=yes", nil, "binary_parameters"},
		{"postgres://%", nil, "invalid URL"},
		{"sslmode=perhaps", nil, "sslmode"},
		{"dbname=x", []prepared.Option{prepared.CacheSize(0)}, "too small"},
	} {
		_, err := prepared.NewConnector(c.dsn, c.opts...)
		require.ErrorContains(t, err, c.says, c.dsn)
	}
}

func TestDriverIsLibPQs(t *testing.T) {
	t.Parallel()
	connector, err := prepared.NewConnector("dbname=x")
	require.NoError(t, err)
	require.IsType(t, &pq.Driver{}, connector.Driver())
}

func TestEveryConnectionIsInitialised(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.dsn = withSetting(t, w.dsn, "application_name", "from the dsn")
	db := w.open(t, 2, prepared.OnConnect("SET lock_timeout = '7s'", "SET statement_timeout = '8s'"))
	for range 2 {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		require.Equal(t, "7s", one[string](t, conn, "SHOW lock_timeout"))
		require.Equal(t, "8s", one[string](t, conn, "SHOW statement_timeout"))
		require.Equal(t, "from the dsn", one[string](t, conn, "SHOW application_name"))
	}
}

func TestFailedInitialisationClosesTheConnection(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.dsn = withSetting(t, w.dsn, "application_name", w.schema)
	db := w.open(t, 1, prepared.OnConnect("SET nonsense = 1"))

	require.NotNil(t, pq.As(db.PingContext(t.Context()), "42704"))

	require.Zero(t, db.Stats().OpenConnections)
	eventually(t, "the connection is gone", func() bool {
		return one[bool](t, w.plain, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = $1", w.schema)
	})
}

func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	connector, err := prepared.NewConnector("host=127.0.0.1 port=1 dbname=x sslmode=disable")
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	require.Error(t, db.PingContext(t.Context()))
	require.NoError(t, db.Close())
}
