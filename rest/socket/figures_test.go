package socket_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
	"stoa/rest/socket"
)

// The figures of §8: two connections of an agent and 32 in all, over all processes.
func TestFiguresOfConnections(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	defaults := func(c *socket.Config) { c.Quotas = limits.Defaults() }
	both := []*process{h.process(defaults), h.process(defaults)}
	for range 16 {
		agent := h.Agent()
		for _, p := range both {
			p.dial(agent.Token).quiet()
		}
		require.Equal(t, 4429, both[0].dial(agent.Token).code(), "a third of the agent")
	}
	another := h.Agent()
	for _, p := range both {
		require.Equal(t, 4429, p.dial(another.Token).code(), "the 33rd of all")
	}
	require.EqualValues(t, 32, h.Count("SELECT count(*) FROM socket_leases"))
}
