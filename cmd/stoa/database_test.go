package main

import (
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

// Both drivers find all hosts of a URL; a URL with one host stays unchanged.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	for address, hosts := range map[string][]string{
		"postgres://stoa:p%2Cw@a:5433,b:5434/stoa?target_session_attrs=read-write&sslmode=disable": {"a:5433", "b:5434"},
		"postgresql://stoa@a,b:5433/stoa?target_session_attrs=read-write&sslmode=disable":          {"a:5432", "b:5433"},
		"postgres://[::1]:5433,[::2]/stoa?target_session_attrs=read-write&sslmode=disable":         {"::1:5433", "::2:5432"},
		"postgres://a:1,b:2?target_session_attrs=read-write&sslmode=disable":                       {"a:1", "b:2"},
	} {
		spread := spreadHosts(address)
		config, err := pgconn.ParseConfig(spread)
		require.NoError(t, err, spread)
		require.Equal(t, hosts[0], config.Host+":"+strconv.Itoa(int(config.Port)), spread)
		require.Len(t, config.Fallbacks, 1)
		require.Equal(t, hosts[1], config.Fallbacks[0].Host+":"+strconv.Itoa(int(config.Fallbacks[0].Port)), spread)
		require.NotNil(t, config.ValidateConnect, "it looks for the primary")
		plain, err := pq.NewConfig(spread)
		require.NoError(t, err, spread)
		require.Len(t, plain.Multi, 1)
		require.Equal(t, pq.TargetSessionAttrs("read-write"), plain.TargetSessionAttrs)
		require.NotContains(t, redactURL(spread), "p%2Cw")
	}
	for _, address := range []string{
		"postgres://stoa@a:5433/stoa?sslmode=disable", "host=a,b port=1,2", "postgres://stoa:a,b@host/stoa", "", "postgres:///stoa?host=/tmp",
	} {
		require.Equal(t, address, spreadHosts(address))
	}
}
