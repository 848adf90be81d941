package contacts

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/contact"
	"stoa/graph/platform/fault"
)

func TestEveryOperationIsDecidedInEveryState(t *testing.T) {
	t.Parallel()
	states := []contact.State{contact.StatePending, contact.StateAccepted, contact.StateBlocked}
	rows := 1
	require.Contains(t, transitions, situation{none, request, requester})
	for _, state := range states {
		require.NoError(t, contact.StateValidator(state))
		for _, does := range []operation{request, accept, block} {
			for _, who := range []role{requester, recipient} {
				rows++
				require.Contains(t, transitions, situation{state, does, who})
			}
		}
		require.Len(t, statuses[state], 2)
	}
	require.Len(t, transitions, rows)
}

func TestOutcomesAreOfOneKind(t *testing.T) {
	t.Parallel()
	for s, o := range transitions {
		moves, refuses := o.to != none, o.refusal != ""
		require.False(t, moves && refuses, "%+v", s)
		require.Equal(t, moves, o.tells != "", "%+v", s)
		require.True(t, moves || !o.needsActive && !o.silences, "%+v", s)
		if refuses {
			require.True(t, slices.Contains([]fault.Code{fault.ContactBlocked, fault.RecipientRequired}, o.refusal), "%+v", s)
		}
		if s.state == contact.StateBlocked {
			require.False(t, moves, "a block never ends: %+v", s)
		}
	}
}
