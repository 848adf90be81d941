package socket_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/limits"
	"stoa/rest/socket"
)

// The limits of §8 count over all processes: two connections of an agent, and 32 in all.
func TestConnectionLimitsHoldAcrossProcesses(t *testing.T) {
	t.Parallel()
	h, full := newCluster(t), newCluster(t)
	defaults := func(c *socket.Config) { c.Quotas = limits.Defaults() }
	both := []*process{h.process(defaults), h.process(defaults)}
	var agents [15]*graphtest.Agent
	for i := range agents {
		agents[i] = h.Agent()
		for _, p := range both {
			p.dial(agents[i].Token).quiet()
		}
	}
	var group sync.WaitGroup
	for _, agent := range agents {
		group.Go(func() { require.Equal(t, 4429, both[0].dial(agent.Token).code(), "a third of the agent") })
	}
	group.Wait()
	require.EqualValues(t, 30, h.Count("SELECT count(*) FROM socket_leases"))

	both = []*process{full.process(defaults), full.process(defaults)}
	for i := range 32 {
		both[i%2].dial(full.Agent().Token).quiet()
	}
	for _, p := range both {
		group.Go(func() {
			require.Equal(t, 4429, p.dial(full.Agent().Token).code(), "the 33rd of all, where nobody has two")
		})
	}
	group.Wait()
	require.EqualValues(t, 32, full.Count("SELECT count(*) FROM socket_leases"))
}
