package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/webhooks"
)

// In a trade each side receives the other's acts, and can leave out its own.
func TestATradeWithoutOwnActs(t *testing.T) {
	t.Parallel()
	s := tradeOn(eventSite(t, limits.Quotas{}))
	s.Exec("DELETE FROM events")
	order := s.offer(s.customer, s.terms(nil))
	s.step(s.contractor, s.step(s.contractor, order, "accept", nil), "start", nil)
	actions := func(agent *graphtest.Agent, query string) (list []string) {
		page := s.send(http.MethodGet, eventsPath+"?version=2"+query, agent.Token, nil).ok(http.StatusOK)
		require.Equal(t, false, page["more"])
		for _, e := range page["events"].([]any) {
			payload := e.(map[string]any)["payload"].(map[string]any)
			list = append(list, fmt.Sprint(payload["action"]))
		}
		return list
	}
	require.Equal(t, []string{"accept", "start"}, actions(s.customer, "&own=false"))
	require.Equal(t, []string{"accept", "start"}, actions(s.customer, ""), "the own act is acknowledged for every connection")
	require.Equal(t, []string{"create", "accept", "start"}, actions(s.contractor, "&own=true"))
	require.Equal(t, []string{"create"}, actions(s.contractor, "&own=false"))
	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM events"))
}

func TestOwnIsTrueOrFalse(t *testing.T) {
	t.Parallel()
	s := eventSite(t, limits.Quotas{})
	agent := s.Agent()
	for _, path := range []string{eventsPath, streamPath} {
		for _, value := range []string{"", "0", "1", "False", "no", "null", "false&own=false", "true&own=false"} {
			refused := s.send(http.MethodGet, path+"?own="+value, agent.Token, nil).fault(http.StatusBadRequest, fault.InvalidInput)
			require.Contains(t, refused["fields"], "own", value)
		}
	}
	for _, value := range []string{"true", "false"} {
		s.send(http.MethodGet, eventsPath+"?own="+value, agent.Token, nil).ok(http.StatusOK)
		s.send(http.MethodHead, streamPath+"?own="+value, agent.Token, nil)
	}
}

// A webhook with own=false receives only others' acts; own acts are acknowledged without a delivery.
func TestAWebhookWithoutOwnActs(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t, graphtest.WithWebhooks(webhooks.SenderConfig{AllowLoopback: true})))
	s.Exec("DELETE FROM events")
	address, received := newReceiver(t, http.StatusOK)
	for _, body := range []string{`"false"`, `null`, `0`} {
		wrong := fmt.Sprintf(`{"url":%q,"own":%s}`, address, body)
		s.send(http.MethodPost, webhooksPath, s.customer.Token, wrong).fault(http.StatusBadRequest, fault.InvalidInput)
	}
	made := s.send(http.MethodPost, webhooksPath, s.customer.Token, map[string]any{"url": address, "own": false}).ok(http.StatusCreated)["webhook"].(map[string]any)
	require.Equal(t, false, made["own"])
	path := webhooksPath + "/" + made["id"].(string)
	s.DeliverWebhooks()
	require.Contains(t, string((<-received).body), "webhook.test")

	order := s.offer(s.customer, s.terms(nil))
	s.step(s.contractor, order, "accept", nil)
	s.DeliverWebhooks()
	var got struct {
		Type string              `json:"type"`
		Data events.OrderPayload `json:"data"`
	}
	require.NoError(t, json.Unmarshal((<-received).body, &got))
	require.Equal(t, []any{"order.changed", "accept", s.contractor.ID}, []any{got.Type, got.Data.Action, got.Data.ActorID})
	require.Empty(t, received)
	require.Empty(t, s.eventIDs(s.customer), "what was left out is acknowledged")
	require.EqualValues(t, 2, s.Count("SELECT count(*) FROM events"), "the contractor's are not")
	require.Len(t, s.send(http.MethodGet, path+"/deliveries", s.customer.Token, nil).ok(http.StatusOK)["deliveries"], 2)

	changed := s.send(http.MethodPatch, path, s.customer.Token, `{"own":true}`).ok(http.StatusOK)["webhook"].(map[string]any)
	require.Equal(t, true, changed["own"])
	s.offer(s.customer, s.terms(map[string]any{"title": "Another"}))
	s.DeliverWebhooks()
	require.Contains(t, string((<-received).body), s.customer.ID.String())
}
