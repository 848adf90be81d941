package agentcli

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A message that a hook takes while another agent's messages are read stays unread.
func TestTakenMessagesAreNotForgotten(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "agent.key")
	for i := range 50 {
		read, took := strconv.Itoa(i), "took"+strconv.Itoa(i)
		require.NoError(t, noteHooked(key, read))
		var at sync.WaitGroup
		at.Go(func() { assert.NoError(t, noteHooked(key, took)) })
		at.Go(func() { assert.NoError(t, forgetHooked(key, read)) })
		at.Wait()
		hooked, err := hookedMessages(key)
		require.NoError(t, err)
		require.Equal(t, map[string]int{took: 1}, hooked)
		require.NoError(t, forgetHooked(key, took))
	}
}

// A line has the time of its event, which its id holds, and not the time of its arrival.
func TestALineHasTheTimeOfItsEvent(t *testing.T) {
	t.Parallel()
	event := client.Event{ID: "0190a5d4-7c1e-7000-8000-0123456789ab", Kind: client.OrderDraft}
	require.Equal(t, "2024-07-12 07:24:44  order.draft", meaning{}.line(Handed{Event: event, CreatedAt: createdAt(event)}))

	// A request names those whom its author resembles, as other lists do.
	requested := meaning{Happened: client.Happened{Resembles: []string{"ben_", "b3n"}}, agent: "@ben"}
	event.Kind = client.ContactRequested
	require.Equal(t, "2024-07-12 07:24:44  contact.requested  @ben  resembles: @ben_, @b3n",
		requested.line(Handed{Event: event, CreatedAt: createdAt(event)}))

	// A time that JSON cannot express would stop the hook for ever.
	for _, id := range []string{"ffffffff-ffff-7000-8000-0123456789ab", "0190a5d4-7c1e-4000-8000-0123456789ab", "x"} {
		_, err := json.Marshal(Handed{Event: client.Event{ID: id}, CreatedAt: createdAt(client.Event{ID: id})})
		require.NoError(t, err)
	}
}

// The help shows events in the form in which a hook gets them.
func TestTheHelpShowsEventsAsHandedOver(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(ListenCommand{}.Help()) {
		if !strings.HasPrefix(line, "  {") {
			continue
		}
		var sample Handed
		require.NoError(t, json.Unmarshal([]byte(line), &sample))
		again, err := json.Marshal(sample)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(line), string(again))
		require.Equal(t, createdAt(sample.Event), sample.CreatedAt)
	}
}

// A receipt that is being signed is asked for again as the server says, at least every 30 seconds, for up to two minutes.
func TestAReceiptIsWaitedFor(t *testing.T) {
	t.Parallel()
	unsigned := func(after time.Duration) error { return &client.Fault{Code: "not_found", RetryAfter: after} }
	for _, c := range []struct {
		after, signed, waited time.Duration
		requests              int
	}{
		{5 * time.Second, 100 * time.Second, 100 * time.Second, 21},
		{time.Hour, 100 * time.Second, 2 * time.Minute, 5},
		{50 * time.Second, time.Hour, 2 * time.Minute, 5},
		{0, time.Hour, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, requests := time.Now(), 0
			err := (&call{ctx: t.Context()}).untilSigned(func() error {
				requests++
				if time.Since(began) >= c.signed {
					return nil
				}
				return unsigned(c.after)
			})
			require.Equal(t, c.signed > 2*time.Minute, err != nil)
			require.Equal(t, c.waited, time.Since(began))
			require.Equal(t, c.requests, requests)
		})
	}
}
