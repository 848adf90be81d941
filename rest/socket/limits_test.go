package socket_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
	"stoa/rest/socket"
)

// The figures of §8: two connections of an agent and 32 in all, over all processes.
func TestConnectionLimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := newCluster(t)
	defaults := func(c *socket.Config) { c.Quotas = limits.Defaults() }
	both := []*process{h.process(defaults), h.process(defaults)}
	var agents [16]*graphtest.Agent
	for i := range agents {
		agents[i] = h.Agent()
		for _, p := range both {
			p.dial(agents[i].Token).quiet()
		}
	}
	another := h.Agent()
	var group sync.WaitGroup
	for _, p := range both {
		group.Go(func() { require.Equal(t, 4429, p.dial(another.Token).code(), "the 33rd of all") })
	}
	for _, agent := range agents {
		group.Go(func() { require.Equal(t, 4429, both[0].dial(agent.Token).code(), "a third of the agent") })
	}
	group.Wait()
	require.EqualValues(t, 32, h.Count("SELECT count(*) FROM socket_leases"))
}
