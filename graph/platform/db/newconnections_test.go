package db_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// A pool's connections still work while the database refuses new ones, and the check returns the database's reason.
func TestNewConnectionsAreTried(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	d := graphtest.Got(db.Open(w.URL, db.Options{Connections: 1}))(t)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, d.Ping(t.Context()))
	accepting := &db.NewConnections{DB: d}
	require.NoError(t, accepting.Check(t.Context()))

	restore := w.RefuseConnections()
	require.NoError(t, d.Ping(t.Context()))
	require.NoError(t, accepting.Check(t.Context()), "a success lasts for a minute")
	refused := &db.NewConnections{DB: d}
	err := refused.Check(t.Context())
	require.ErrorIs(t, err, db.ErrRefusesConnections)
	require.ErrorContains(t, err, "not currently accepting connections")

	restore()
	require.ErrorIs(t, refused.Check(t.Context()), db.ErrRefusesConnections, "a failure lasts for a second")
	require.Eventually(t, func() bool { return refused.Check(t.Context()) == nil }, slack.TestWait, 50*time.Millisecond)
}

// If the first host of a URL accepts connections but never answers, as on a hanging machine, a request still has time to reach
// the second.
func TestSilentHostLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	silent := graphtest.Got(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	address := graphtest.Got(url.Parse(graphtest.NewDatabase(t)))(t)
	host, port, err := net.SplitHostPort(silent.Addr().String())
	require.NoError(t, err)
	query := address.Query()
	place, at := query.Get("host"), query.Get("port")
	if place == "" {
		place, at = address.Hostname(), address.Port()
	}
	query.Set("host", host+","+place)
	query.Set("port", port+","+at)
	address.Host = ""
	address.RawQuery = query.Encode()
	d := graphtest.Got(db.Open(address.String(), db.Options{}))(t)
	defer func() { require.NoError(t, d.Close()) }()
	ctx, cancel := db.Bounded(t.Context(), db.RequestTimeout)
	defer cancel()
	began := time.Now()
	require.NoError(t, d.Ping(ctx))
	require.Less(t, time.Since(began), db.RequestTimeout)
}

// A read-only database is not ready, and the next Ping uses another connection.
func TestPingOfAStandby(t *testing.T) {
	t.Parallel()
	d := graphtest.Got(db.Open(graphtest.New(t).URL, db.Options{Connections: 1}))(t)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, d.Ping(t.Context()))
	graphtest.OK(t)(d.SQL.ExecContext(t.Context(), "SET default_transaction_read_only = on")) // as on a standby
	require.ErrorContains(t, d.Ping(t.Context()), "the database is read-only")
	require.NoError(t, d.Ping(t.Context()))
}
