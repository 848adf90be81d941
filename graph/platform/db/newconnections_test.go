package db_test

import (
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
	d, err := db.Open(w.URL, db.Options{Connections: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, d.Ping(t.Context()))
	accepting := &db.NewConnections{DB: d}
	require.NoError(t, accepting.Check(t.Context()))

	restore := w.RefuseConnections()
	require.NoError(t, d.Ping(t.Context()))
	require.NoError(t, accepting.Check(t.Context()), "a success lasts for a minute")
	refused := &db.NewConnections{DB: d}
	err = refused.Check(t.Context())
	require.ErrorIs(t, err, db.ErrRefusesConnections)
	require.ErrorContains(t, err, "not currently accepting connections")

	restore()
	require.ErrorIs(t, refused.Check(t.Context()), db.ErrRefusesConnections, "a failure lasts for a second")
	require.Eventually(t, func() bool { return refused.Check(t.Context()) == nil }, slack.TestWait, 50*time.Millisecond)
}
