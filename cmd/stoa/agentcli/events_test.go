package agentcli

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A message that a hook takes while another agent's messages are read stays unread.
func TestTakenMessagesAreNotForgotten(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "agent.key")
	for i := range 300 {
		read, took := strconv.Itoa(i), "took"+strconv.Itoa(i)
		require.NoError(t, noteTaken(key, "+"+read))
		var at sync.WaitGroup
		at.Go(func() { assert.NoError(t, noteTaken(key, "+"+took)) })
		at.Go(func() { assert.NoError(t, forgetTaken(key, read)) })
		at.Wait()
		taken, err := takenMessages(key)
		require.NoError(t, err)
		require.Equal(t, map[string]int{took: 1}, taken)
		require.NoError(t, forgetTaken(key, took))
	}
}

// A line has the time of its event, which its id holds, and not the time of its arrival.
func TestALineHasTheTimeOfItsEvent(t *testing.T) {
	t.Parallel()
	event := client.Event{ID: sampleID, Kind: client.OrderDraft}
	require.Equal(t, "2024-07-12 07:24:44  order.draft", meaning{}.line(Handed{Event: event, CreatedAt: createdAt(event)}))
}
