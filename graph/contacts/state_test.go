package contacts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/ent/contact"
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
