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
	rows := 2
	for _, op := range []operation{request, block} {
		require.Contains(t, transitions, attempt{none, op, requester})
	}
	for _, state := range states {
		require.NoError(t, contact.StateValidator(state))
		for _, op := range []operation{request, accept, block} {
			for _, who := range []role{requester, recipient} {
				rows++
				require.Contains(t, transitions, attempt{state, op, who})
			}
		}
		require.Len(t, statuses[state], 2)
	}
	require.Len(t, transitions, rows)
}

func TestTransitionsMoveOrRefuseOrRepeat(t *testing.T) {
	t.Parallel()
	for from, next := range transitions {
		moves, refuses := next.to != none, next.refusal != ""
		require.False(t, moves && refuses, "%+v", from)
		stranger := from == attempt{none, block, requester}
		require.Equal(t, moves && !stranger, next.event != "", "only a block between strangers is announced to neither: %+v", from)
		require.True(t, moves || !next.requiresActive, "%+v", from)
		if refuses {
			require.True(t, slices.Contains([]fault.Code{fault.ContactBlocked, fault.RecipientRequired}, next.refusal), "%+v", from)
		}
		if from.state == contact.StateBlocked {
			require.False(t, moves, "a block never ends: %+v", from)
		}
	}
}
