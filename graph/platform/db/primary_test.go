package db_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
)

// If the first host of a URL accepts connections but never answers, as on a hanging machine, a request still has time to reach
// the second.
func TestSilentHostLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	address, err := url.Parse(graphtest.NewDatabase(t))
	require.NoError(t, err)
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
	d, err := db.Open(address.String(), db.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	ctx, cancel := db.Bounded(t.Context(), db.RequestTimeout)
	defer cancel()
	began := time.Now()
	require.NoError(t, d.Ping(ctx))
	require.Less(t, time.Since(began), db.RequestTimeout)
}
