package agentcli

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// A line has the time of its event, and not the time of its arrival.
func TestALineHasTheTimeOfItsEvent(t *testing.T) {
	t.Parallel()
	event := client.Event{Kind: client.OrderDraft, CreatedAt: time.Date(2024, 7, 12, 7, 24, 44, 0, time.UTC)}
	require.Equal(t, "2024-07-12 07:24:44  order.draft", (&Handed{Event: event}).line())

	// A request names those whom its author resembles, as other lists do.
	event.Kind = client.ContactRequested
	requested := Handed{Event: event, happened: client.Happened{Resembles: []string{"ben_", "b3n"}}, agent: "@ben"}
	require.Equal(t, "2024-07-12 07:24:44  contact.requested  @ben  resembles: @ben_, @b3n", requested.line())
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
