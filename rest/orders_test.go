package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// trade is a site with two friends.
type trade struct {
	*site
	customer, contractor *graphtest.Agent
	contact              uuid.UUID
}

func newTrade(t *testing.T) *trade {
	t.Helper()
	return tradeOn(sharedSite(t))
}

func tradeOn(site *site) *trade {
	s := &trade{site: site}
	s.customer, s.contractor = s.Agent(), s.Agent()
	s.contact = s.Befriend(s.customer, s.contractor)
	return s
}

// terms returns the body of an offer by the customer with the given members changed, and without nil members.
func (s *trade) terms(changes map[string]any) map[string]any {
	return changed(map[string]any{
		"operation_id": uuid.NewString(), "title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z",
		"amount_minor": 1000, "contractor_id": s.contractor.ID, "confirmed_total_minor": 1100,
	}, changes)
}

// asked returns the same terms as an offer by the contractor.
func (s *trade) asked() map[string]any {
	return s.terms(map[string]any{"contractor_id": nil, "confirmed_total_minor": nil, "customer_id": s.customer.ID})
}

func changed(body, changes map[string]any) map[string]any {
	maps.Copy(body, changes)
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
	return body
}

// offer makes an order and returns its card.
func (s *trade) offer(by *graphtest.Agent, terms map[string]any) map[string]any {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders", by.Token, terms).ok(http.StatusCreated)["order"].(map[string]any)
}

// act sends an action on the version of a card.
func (s *trade) act(by *graphtest.Agent, card map[string]any, action string, changes map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", "/api/v1/orders/"+card["id"].(string)+"/"+action, by.Token,
		changed(map[string]any{"operation_id": uuid.NewString(), "expected_version": card["version"]}, changes))
}

// step sends an action that must succeed.
func (s *trade) step(by *graphtest.Agent, card map[string]any, action string, changes map[string]any) map[string]any {
	s.t.Helper()
	return s.act(by, card, action, changes).ok(http.StatusOK)["order"].(map[string]any)
}

// delivered returns an order that waits for the customer's acceptance.
func (s *trade) delivered() map[string]any {
	s.t.Helper()
	card := s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil)
	return s.step(s.contractor, s.step(s.contractor, card, "start", nil), "deliver", map[string]any{"result_text": "Done."})
}

func TestOrderFromQuoteToPayment(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	require.Equal(t, map[string]any{"quote": map[string]any{"amount_minor": 1000.0, "fee_minor": 100.0, "total_minor": 1100.0, "fee_bps": 1000.0}},
		s.send("POST", "/api/v1/orders/quote", s.customer.Token, `{"amount_minor":1000}`).ok(http.StatusOK))
	card := s.offer(s.customer, s.terms(nil))
	require.Equal(t, []string{
		"actions", "amount_minor", "author_id", "closed_at", "confirmed_total_minor", "contractor", "contractor_id", "created_at", "customer",
		"customer_id", "deadline", "delivered_at", "description", "dispute", "fee_bps", "fee_minor", "fee_mode", "funded_at", "id",
		"input_attachments", "outcome", "refund_proposal", "result_attachments", "result_text", "role", "service_id", "state", "task_id", "title",
		"total_minor", "updated_at", "version",
	}, slices.Sorted(maps.Keys(card)))
	require.Equal(t, "2999-01-01T00:00:00.000000Z", card["deadline"])
	for _, none := range []string{"closed_at", "delivered_at", "dispute", "funded_at", "outcome", "refund_proposal", "result_text", "service_id", "task_id"} {
		require.Nil(t, card[none], none)
	}
	require.Equal(t, []any{}, card["input_attachments"])
	require.Equal(t, []any{}, card["result_attachments"])
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"},
		slices.Sorted(maps.Keys(card["contractor"].(map[string]any))))
	require.Equal(t, []any{map[string]any{
		"name": "cancel", "method": "POST", "path": "/api/v1/orders/" + card["id"].(string) + "/cancel",
		"body": map[string]any{"operation_id": nil, "expected_version": 1.0},
	}}, card["actions"])

	card = s.step(s.contractor, card, "accept", nil)
	require.EqualValues(t, 1100, s.send("GET", "/api/v1/wallet", s.customer.Token, nil).ok(http.StatusOK)["wallet"].(map[string]any)["reserved_minor"])
	card = s.step(s.contractor, card, "start", nil)
	card = s.step(s.contractor, card, "deliver", map[string]any{"result_text": "Done.", "result_attachment_ids": []string{}})
	card = s.step(s.customer, card, "complete", nil)
	require.Equal(t, "closed", card["state"])
	require.Equal(t, "accepted", card["outcome"])
	require.Equal(t, []any{}, card["actions"])
	wallet := s.send("GET", "/api/v1/wallet", s.contractor.Token, nil).ok(http.StatusOK)["wallet"].(map[string]any)
	require.EqualValues(t, 501000, wallet["available_minor"])

	detail := s.send("GET", "/api/v1/orders/"+card["id"].(string), s.customer.Token, nil).ok(http.StatusOK)
	require.Equal(t, card, detail["order"])
	var actions []any
	for i, e := range detail["events"].([]any) {
		event := e.(map[string]any)
		require.Equal(t, []string{"action", "created_at", "participant_id", "reason", "state", "version"}, slices.Sorted(maps.Keys(event)))
		require.EqualValues(t, i+1, event["version"])
		actions = append(actions, event["action"])
	}
	require.Equal(t, []any{"create", "accept", "start", "deliver", "complete"}, actions)
	list := s.send("GET", "/api/v1/orders?state=closed", s.customer.Token, nil).ok(http.StatusOK)
	require.Equal(t, map[string]any{"orders": []any{card}, "page": 1.0, "page_size": 20.0, "next_page": nil}, list)
	for _, kind := range []string{"reserve", "payment"} {
		require.Contains(t, string(s.send("GET", "/api/v1/wallet/history", s.customer.Token, nil).raw), `"kind":"`+kind+`"`)
	}
}
