package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"stoa/cmd/bench/load"
)

// Both sides answer every scenario with the expected status, and benchstat reads the results. Searches have no plain side.
func TestEveryScenario(t *testing.T) {
	t.Parallel()
	const server = "../../bin/stoa"
	all, searches := len(load.Scenarios), 5
	compare(t, command{Server: server, Against: server}, map[string]int{"against": all, "server": all})
	compare(t, command{Server: server}, map[string]int{"plain": all - searches, "server": all})
}

func compare(t *testing.T, c command, wanted map[string]int) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts servers")
	}
	out := filepath.Join(t.TempDir(), "bench.txt")
	c.Connections, c.Rounds, c.Length, c.Agents, c.Out = 2, 1, time.Millisecond, 100, out
	require.NoError(t, c.Validate())
	require.NoError(t, c.Run(t.Context()))
	file, err := os.Open(out)
	require.NoError(t, err)
	defer file.Close()
	found := make(map[string]int)
	for reader := benchfmt.NewReader(file, out); reader.Scan(); {
		result, ok := reader.Result().(*benchfmt.Result)
		require.True(t, ok, "%v", reader.Result())
		cost, ok := result.Value("postgres-sec/op")
		require.True(t, ok)
		require.Positive(t, cost)
		found[result.GetConfig("by")]++
	}
	require.Equal(t, wanted, found)
}
