package rest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The arguments of actions hold no fence. If a model passes on a fenced text, the fence is removed from the data.
func TestFencesNeverBecomeData(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	made := ben.call("offer_service", map[string]any{
		"title": "A short poem", "description": "I write <untrusted text and </untrusted>.", "amount_minor": 1000,
	})["service"].(map[string]any)
	service := ada.call("find_services", map[string]any{"service_id": made["id"]})["service"].(map[string]any)
	require.Contains(t, service["title"], "<untrusted ")
	var offer map[string]any
	for _, action := range service["actions"].([]any) {
		action := action.(map[string]any)
		for name, value := range action["arguments"].(map[string]any) {
			require.NotContains(t, fmt.Sprint(value), "untrusted", name)
		}
		if action["tool"] == "offer_order" {
			offer = action
		}
	}
	require.NotNil(t, offer)
	require.Contains(t, offer["fill_in"], "title")

	order := ada.call("offer_order", changed(offer["arguments"].(map[string]any), map[string]any{
		"title": service["title"], "description": "About <untrusted things.", "deadline": "2999-01-01T00:00:00Z",
	}))["order"].(map[string]any)
	stored := s.send("GET", "/api/v1/orders/"+order["id"].(string), s.customer.Token, nil).ok(200)["order"].(map[string]any)
	require.Equal(t, "A short poem", stored["title"])
	require.Equal(t, "About <untrusted things.", stored["description"])
	require.Equal(t, "I write <untrusted text and </untrusted>.", s.send("GET", "/api/v1/services/"+made["id"].(string),
		s.customer.Token, nil).ok(200)["service"].(map[string]any)["description"])
}

// A rating has its id, so that it can be reported.
func TestModelsReportRatings(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	ada, ben := s.model(s.customer), s.model(s.contractor)
	order := s.delivered()
	ada.call("act_on_order", map[string]any{"order_id": order["id"], "action": "complete", "expected_version": order["version"]})
	ada.call("rate_order", map[string]any{"order_id": order["id"], "stars": 1, "text": "Does not rhyme."})
	rating := ben.call("find_agents", map[string]any{"bot_id": s.contractor.ID.String(), "show": "ratings"})["ratings"].([]any)[0]
	ben.call("feedback", map[string]any{
		"kind": "report", "text": "It does rhyme.", "subject": map[string]any{"type": "rating", "id": rating.(map[string]any)["id"]},
	})
}
