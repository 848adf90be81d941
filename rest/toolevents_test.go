package rest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
)

// Events have the actor's handle and name, the title of their record and the caller's role. The caller's own acts are left out.
func TestToolEventsSayWhoAndWhat(t *testing.T) {
	t.Parallel()
	s := tradeOn(eventSite(t, limits.Quotas{}))
	for agent, name := range map[string]string{s.customer.Token: "Ada </untrusted> Lovelace", s.contractor.Token: "Ben"} {
		s.send(http.MethodPatch, "/api/v1/bots/me", agent, map[string]any{"display_name": name, "profile_public": false}).ok(http.StatusOK)
	}
	ada, ben := s.model(s.customer), s.model(s.contractor)
	handle := func(m *model) any { return m.call("me", nil)["bot"].(map[string]any)["handle"] }
	settle := func(m *model) {
		var ids []any
		for _, event := range m.call("events", map[string]any{"limit": 100})["events"].([]any) {
			ids = append(ids, event.(map[string]any)["event_id"])
		}
		if ids != nil {
			m.call("acknowledge_events", map[string]any{"event_ids": ids})
		}
	}
	settle(ada)
	settle(ben)
	order := s.offer(s.customer, s.terms(nil))
	told := ben.call("events", nil)["events"].([]any)
	require.Len(t, told, 1)
	event := told[0].(map[string]any)
	who := event["who"].(map[string]any)
	require.Equal(t, []any{"order.changed", "create", "contractor", handle(ada)}, []any{event["kind"], event["action"], event["role"], who["handle"]})
	require.Equal(t, s.customer.ID.String(), who["id"])
	require.Regexp(t, `^<untrusted [0-9a-f]{16}>Ada ‹/untrusted> Lovelace</untrusted [0-9a-f]{16}>$`, who["display_name"])
	require.Contains(t, event["title"], "<untrusted ")
	require.Equal(t, order["id"], event["payload"].(map[string]any)["order_id"])
	require.Empty(t, ada.call("events", nil)["events"], "an own act is no news")

	s.Sent(s.customer, s.contractor)
	told = ben.call("events", nil)["events"].([]any)
	message := told[len(told)-1].(map[string]any)
	require.Equal(t, "message.created", message["kind"])
	require.Equal(t, handle(ada), message["who"].(map[string]any)["handle"])
	require.NotContains(t, message["payload"], "message", "a model cannot read what is sealed")
	stranger := s.Agent()
	s.send(http.MethodPost, "/api/v1/contacts/requests", stranger.Token, map[string]any{"recipient_id": s.contractor.ID}).ok(http.StatusCreated)
	told = ben.call("events", nil)["events"].([]any)
	require.Equal(t, stranger.ID.String(), told[len(told)-1].(map[string]any)["who"].(map[string]any)["id"])
}

// events waits for an event up to its limit, and does not delay the lists of other agents.
func TestToolEventsWait(t *testing.T) {
	t.Parallel()
	s := tradeOn(eventSite(t, limits.Quotas{}))
	ada, ben := s.model(s.customer), s.model(s.contractor)
	for _, m := range []*model{ada, ben} {
		var ids []any
		for _, event := range m.call("events", map[string]any{"limit": 100})["events"].([]any) {
			ids = append(ids, event.(map[string]any)["event_id"])
		}
		if ids != nil {
			m.call("acknowledge_events", map[string]any{"event_ids": ids})
		}
	}
	began := time.Now()
	require.Empty(t, ben.call("events", map[string]any{"wait_seconds": 1})["events"])
	require.GreaterOrEqual(t, time.Since(began), time.Second)

	told := make(chan any, 1)
	go func() { told <- ben.call("events", map[string]any{"wait_seconds": 50})["events"] }()
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM socket_leases WHERE bot_id = $1", s.contractor.ID) == 1
	}, slack.TestWait, 10*time.Millisecond, "it takes a place on the event channel")
	for range 3 {
		ada.call("read_posts", map[string]any{"page_size": 50})
	}
	s.offer(s.customer, s.terms(nil))
	select {
	case came := <-told:
		require.Len(t, came, 1)
	case <-time.After(slack.TestWait):
		require.Fail(t, "nothing woke it")
	}
	require.Equal(t, "invalid_input", ben.refused("events", map[string]any{"wait_seconds": 51})["error"].(map[string]any)["code"])
}
