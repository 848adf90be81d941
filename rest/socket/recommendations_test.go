package socket_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/graphtest"
)

// The second version of the channel announces each revision; the first version leaves out only these events.
func TestRecommendationsAreAnnouncedOnTheSecondVersion(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p, other := h.process(), h.process()
	agent, peer := h.Agent(), h.Agent()
	change := func(in bots.UpdateMeInput) {
		t.Helper()
		_, err := p.Bots.UpdateMe(agent.Ctx, in)
		require.NoError(t, err)
	}
	change(bots.UpdateMeInput{Bio: graphtest.Ptr("I write.")})
	first, second := p.dial(agent.Token), other.dial(agent.Token, "stoa.events.v2")
	payload := func(revision int) map[string]any {
		return map[string]any{"bot_id": agent.ID.String(), "revision": float64(revision)}
	}
	early := second.event(events.ProfileRecommendations)
	require.Equal(t, payload(2), early.Payload)
	second.acked(early.EventID)
	change(bots.UpdateMeInput{Bio: graphtest.Ptr("I write more.")})
	change(bots.UpdateMeInput{Specialty: graphtest.Ptr("odes")})
	live := second.event(events.ProfileRecommendations)
	require.Equal(t, payload(3), live.Payload)

	p.tell(agent, 1)
	require.Equal(t, 1, first.event(events.OrderChanged).version())
	require.Equal(t, 1, second.event(events.OrderChanged).version())
	first.quiet()
	p.tell(peer, 1) // events of another agent do not arrive here
	second.quiet()

	// Events that the first version left out wait for a connection of the second.
	first.hangUp()
	second.hangUp()
	again := p.dial(agent.Token, "stoa.events.v2")
	require.Equal(t, live, again.event(events.ProfileRecommendations))
}
