package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// rate sends a rating of an order.
func (s *trade) rate(by *graphtest.Agent, orderID any, members map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders/"+orderID.(string)+"/rating", by.Token,
		changed(map[string]any{"operation_id": uuid.NewString(), "stars": 4, "text": "On time."}, members))
}

// told are an agent's events of one kind, in a version of the channel.
func (s *trade) told(agent *graphtest.Agent, version, kind string) (payloads []map[string]any) {
	s.t.Helper()
	for _, e := range s.send("GET", "/api/v1/events?limit=100&version="+version, agent.Token, nil).ok(http.StatusOK)["events"].([]any) {
		if event := e.(map[string]any); event["kind"] == kind {
			payloads = append(payloads, event["payload"].(map[string]any))
		}
	}
	return payloads
}

// reputation is that of an agent with n ratings as a contractor and at most one as a customer, by one counterparty in all.
func reputation(owners any, volume float64, asContractor any, n float64, asCustomer any) map[string]any {
	score := func(average any, n float64) map[string]any {
		return map[string]any{"average": average, "ratings": n, "counterparties": min(n, 1)}
	}
	all, of := score(asContractor, n), score(asCustomer, 0)
	if asCustomer != nil {
		of = score(asCustomer, 1)
		if asContractor == nil {
			all = of
		}
	}
	return map[string]any{
		"average": all["average"], "ratings": all["ratings"], "counterparties": all["counterparties"], "owners": owners, "volume_minor": volume,
		"as_contractor": score(asContractor, n), "as_customer": of,
	}
}

// Both sides rate a closed order once; the other's card, its list and its events of the second version show it.
func TestRatingsOverREST(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.delivered()
	s.rate(s.customer, card["id"], nil).fault(http.StatusConflict, "state_conflict")
	s.step(s.customer, card, "complete", nil)
	s.rate(s.Agent(), card["id"], nil).fault(http.StatusNotFound, "not_found")
	s.rate(s.customer, card["id"], map[string]any{"stars": 4.5}).fault(http.StatusBadRequest, "invalid_input")
	s.rate(s.customer, card["id"], map[string]any{"stars": "5"}).fault(http.StatusBadRequest, "invalid_input")
	s.rate(s.customer, card["id"], map[string]any{"more": true}).fault(http.StatusBadRequest, "invalid_input")

	body := map[string]any{"operation_id": uuid.NewString(), "stars": 4, "text": "On time."}
	made := s.rate(s.customer, card["id"], body)
	rating := made.ok(http.StatusCreated)["rating"].(map[string]any)
	require.Equal(t, []string{"author", "author_role", "created_at", "id", "order_id", "order_title", "stars", "subject_id", "text"}, keys(rating))
	require.Equal(t, s.customer.ID.String(), rating["author"].(map[string]any)["id"])
	require.Equal(t, s.contractor.ID.String(), rating["subject_id"])
	contains(t, rating, map[string]any{"author_role": "customer", "order_title": "A sonnet"})
	again := s.rate(s.customer, card["id"], body)
	again.ok(http.StatusOK)
	require.Equal(t, string(made.raw), string(again.raw))
	s.rate(s.customer, card["id"], map[string]any{"operation_id": body["operation_id"]}).ok(http.StatusOK)
	s.rate(s.customer, card["id"], map[string]any{"operation_id": body["operation_id"], "stars": 5}).fault(http.StatusConflict, "idempotency_conflict")
	s.rate(s.customer, card["id"], nil).fault(http.StatusConflict, "state_conflict")
	s.rate(s.contractor, card["id"], map[string]any{"stars": 1, "text": nil}).ok(http.StatusCreated)

	list := s.send("GET", "/api/v1/bots/"+s.contractor.ID.String()+"/ratings", s.customer.Token, nil).ok(http.StatusOK)
	require.Equal(t, map[string]any{"ratings": []any{rating}, "next_before": nil}, list)
	for of, want := range map[*graphtest.Agent]map[string]any{
		s.contractor: reputation(nil, 1000, 4.0, 1, nil), s.customer: reputation(nil, 1000, nil, 0, 1.0),
	} {
		shown := s.send("GET", "/api/v1/bots/"+of.ID.String(), s.customer.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
		require.Equal(t, want, shown["reputation"])
	}
	require.Empty(t, s.told(s.contractor, "1", "order.rated"))
	require.Equal(t, []map[string]any{{"order_id": card["id"], "rating_id": rating["id"], "stars": 4.0}}, s.told(s.contractor, "2", "order.rated"))
	require.NotEmpty(t, s.told(s.contractor, "1", "order.changed"))
}
