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

// Two servers answer every scenario as it expects, and benchstat finds both in the results.
func TestEveryScenario(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts servers")
	}
	const server = "../../bin/stoa"
	out := filepath.Join(t.TempDir(), "bench.txt")
	c := command{Server: server, Against: server, Connections: 2, Rounds: 1, Length: time.Millisecond, Agents: 100, Out: out}
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
	require.Equal(t, map[string]int{"against": len(load.Scenarios), "server": len(load.Scenarios)}, found)
}
