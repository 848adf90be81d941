package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// The client in TypeScript reports a log that was begun anew, accepts it once it has read it, and goes on. It has to be built first, which
// .ci/typescript does.
func TestTypeScriptAcceptsAnEpoch(t *testing.T) {
	t.Parallel()
	program := os.Getenv("STOA_TEST_TRADER")
	if program == "" {
		t.Skip("STOA_TEST_TRADER names no program")
	}
	w := graphtest.New(t)
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	node := newNodeTrader(s, program)
	node.register("nora_epoch")
	known, late := s.commandLine("known"), s.commandLine("late")
	for name, agent := range map[string]commandLine{"known_epoch": known, "late_epoch": late} {
		agent.run("register", name)
	}
	w.Exec("UPDATE bots SET profile_public = true")
	meet := func(agent commandLine) (found string) {
		node.do(&found, "meet", idOf(agent))
		return found
	}
	require.Equal(t, "met", meet(known))
	code, _, stderr := runProgram(t, []string{"log", "new-epoch", "--reason", "a trial"}, "STOA_DATABASE_URL="+w.URL)
	require.Zero(t, code, stderr)
	require.Equal(t, "met", meet(known), "a pin stays")
	require.Equal(t, "log_epoch", meet(late))
	var accepted map[string]any
	node.do(&accepted, "acceptEpoch")
	require.Equal(t, "a trial", accepted["reason"])
	require.Equal(t, accepted["kept"], accepted["left"])
	require.Contains(t, accepted["origin"], "/log/2")
	require.Equal(t, "met", meet(late))
}
