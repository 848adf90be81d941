package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// board is a site with a customer and two agents, none of them friends.
type board struct {
	*site
	customer, one, other *graphtest.Agent
}

func boardOn(s *site) *board {
	return &board{site: s, customer: s.Agent(), one: s.Agent(), other: s.Agent()}
}

// job returns the body of a task with the given members changed, and without nil members.
func job(changes map[string]any) map[string]any {
	return changed(map[string]any{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
	}, changes)
}

// task puts a task on the board and returns its card.
func (s *board) task(changes map[string]any) map[string]any {
	s.t.Helper()
	return s.send("POST", "/api/v1/tasks", s.customer.Token, job(changes)).ok(http.StatusCreated)["task"].(map[string]any)
}

func pathOf(task map[string]any) string { return "/api/v1/tasks/" + task["id"].(string) }

// respond answers a task and returns the response's card.
func (s *board) respond(by *graphtest.Agent, task, body map[string]any) map[string]any {
	s.t.Helper()
	return s.send("POST", pathOf(task)+"/responses", by.Token, body).ok(http.StatusCreated)["response"].(map[string]any)
}

// choice returns the body of a selection.
func choice(response map[string]any, total int) map[string]any {
	return map[string]any{"operation_id": uuid.NewString(), "response_id": response["id"], "confirmed_total_minor": total}
}

// see reads a task, anonymously if the agent is nil.
func (s *board) see(by *graphtest.Agent, task map[string]any) map[string]any {
	s.t.Helper()
	token := ""
	if by != nil {
		token = by.Token
	}
	return s.send("GET", pathOf(task), token, nil).ok(http.StatusOK)["task"].(map[string]any)
}

// wallet of an agent.
func (s *board) wallet(of *graphtest.Agent) map[string]any {
	s.t.Helper()
	return s.send("GET", "/api/v1/wallet", of.Token, nil).ok(http.StatusOK)["wallet"].(map[string]any)
}

// contains requires a card to have these members.
func contains(t *testing.T, card, want map[string]any) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, card[name], name)
	}
}

func TestTaskOnTheBoard(t *testing.T) {
	t.Parallel()
	s := boardOn(sharedSite(t))
	task := s.task(map[string]any{"title": " A sonnet "})
	members := []string{
		"actions", "amount_minor", "created_at", "customer", "deadline", "description", "fee_bps", "fee_minor", "id", "order_id",
		"response_count", "state", "title", "total_minor", "updated_at",
	}
	require.Equal(t, members, slices.Sorted(maps.Keys(task)))
	contains(t, task, map[string]any{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00.000000Z", "amount_minor": 1000.0, "fee_minor": 100.0,
		"total_minor": 1100.0, "fee_bps": 1000.0, "state": "open", "response_count": 0.0, "order_id": nil,
		"actions": []any{map[string]any{"name": "close", "method": "POST", "path": pathOf(task) + "/close", "body": map[string]any{}}},
	})
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"},
		slices.Sorted(maps.Keys(task["customer"].(map[string]any))))
	require.EqualValues(t, 0, s.wallet(s.customer)["reserved_minor"], "a task reserves nothing")
	require.Equal(t, task, s.see(s.customer, task))

	// The board is public: an anonymous reader sees the same without order and actions.
	seen := s.see(nil, task)
	require.Equal(t, slices.DeleteFunc(members, func(n string) bool { return n == "order_id" }), slices.Sorted(maps.Keys(seen)))
	require.Equal(t, []any{}, seen["actions"])
	require.Equal(t, []any{map[string]any{
		"name": "respond", "method": "POST", "path": pathOf(task) + "/responses", "body": map[string]any{"text": nil},
	}}, s.see(s.one, task)["actions"])
}

// A task is on the board only while its customer is active and not suspended, whether the profile is open or not. Its customer,
// if not suspended, and the agents that have responded still see it.
func TestTasksFollowTheirCustomer(t *testing.T) {
	t.Parallel()
	s := boardOn(newSite(t))
	task := s.task(nil)
	s.respond(s.one, task, map[string]any{"text": "Me."})
	listed := func() bool {
		t.Helper()
		all := s.send("GET", "/api/v1/tasks", s.other.Token, nil).ok(http.StatusOK)["tasks"].([]any)
		found := s.send("GET", "/api/v1/tasks?q=sonnet", "", nil).ok(http.StatusOK)["tasks"].([]any)
		require.Len(t, found, len(all))
		return len(all) > 0
	}
	for _, c := range []struct {
		leave, back string
		there       bool
	}{
		{"profile_public = false", "profile_public = true", true},
		{"state = 'trash'", "state = 'active'", false},
		{"suspended_at = stoa_now()", "suspended_at = NULL", false},
	} {
		s.Exec("UPDATE bots SET "+c.leave+" WHERE id = $1", s.customer.ID)
		require.Equal(t, c.there, listed(), c.leave)
		for _, reader := range []string{"", s.other.Token} {
			seen := s.send("GET", pathOf(task), reader, nil)
			if c.there {
				customer := seen.ok(http.StatusOK)["task"].(map[string]any)["customer"].(map[string]any)
				require.Equal(t, s.customer.ID.String(), customer["id"])
				require.NotEmpty(t, customer["handle"])
			} else {
				seen.fault(http.StatusNotFound, fault.NotFound)
			}
		}
		involved := []*graphtest.Agent{s.one}
		if c.leave != "suspended_at = stoa_now()" {
			involved = append(involved, s.customer)
		}
		for _, reader := range involved {
			s.see(reader, task)
		}
		s.Exec("UPDATE bots SET "+c.back+" WHERE id = $1", s.customer.ID)
		require.True(t, listed())
	}
}

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
