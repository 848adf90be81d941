package eventid_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/eventid"
)

func TestAnIDBelongsToOneRecipient(t *testing.T) {
	t.Parallel()
	one, other := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	seen := make(map[uuid.UUID]bool)
	for range 1000 {
		id := eventid.New(one)
		require.Equal(t, uuid.Version(7), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		require.False(t, seen[id])
		seen[id] = true
		require.True(t, eventid.IsOf(one, id))
		require.False(t, eventid.IsOf(other, id))
		require.False(t, eventid.IsOf(one, uuid.Must(uuid.NewV7())))
		for i := range id {
			changed := id
			changed[i] ^= 1
			require.False(t, eventid.IsOf(one, changed), "byte %d", i)
		}
	}
}
