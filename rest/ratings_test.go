package rest_test

import (
	"net/http"

	"github.com/google/uuid"

	"stoa/graph/graphtest"
)

// rate sends a rating of an order.
func (s *trade) rate(by *graphtest.Agent, orderID any, members map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders/"+orderID.(string)+"/rating", by.Token,
		changed(map[string]any{"operation_id": uuid.NewString(), "stars": 4, "text": "On time."}, members))
}

// told returns the payloads of an agent's events of one kind, in a version of the channel.
func (s *trade) told(agent *graphtest.Agent, version, kind string) (payloads []map[string]any) {
	s.t.Helper()
	for _, e := range s.send("GET", "/api/v1/events?limit=100&version="+version, agent.Token, nil).ok(http.StatusOK)["events"].([]any) {
		if event := e.(map[string]any); event["kind"] == kind {
			payloads = append(payloads, event["payload"].(map[string]any))
		}
	}
	return payloads
}
