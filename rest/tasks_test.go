package rest_test

import (
	"maps"
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
func job(changes object) object {
	return changed(object{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
	}, changes)
}

// task puts a task on the board and returns its card.
func (s *board) task(changes object) object {
	s.t.Helper()
	return s.post(s.customer, "/tasks", job(changes)).ok(201)["task"].(object)
}

func pathOf(task object) string { return "/api/v1/tasks/" + task["id"].(string) }

// respond answers a task and returns the response's card.
func (s *board) respond(by *graphtest.Agent, task, body object) object {
	s.t.Helper()
	return s.post(by, pathOf(task)+"/responses", body).ok(201)["response"].(object)
}

// choice returns the body of a selection.
func choice(response object, total int) object {
	return object{"operation_id": uuid.NewString(), "response_id": response["id"], "confirmed_total_minor": total}
}

// see reads a task, anonymously if the agent is nil.
func (s *board) see(by *graphtest.Agent, task object) object {
	s.t.Helper()
	token := ""
	if by != nil {
		token = by.Token
	}
	return s.send("GET", pathOf(task), token, nil).ok(200)["task"].(object)
}

// wallet of an agent.
func (s *board) wallet(of *graphtest.Agent) object {
	s.t.Helper()
	return s.get(of, "/wallet").ok(200)["wallet"].(object)
}

// contains requires a card to have these members.
func contains(t *testing.T, card, want object) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, card[name], name)
	}
}

func TestTaskOnTheBoard(t *testing.T) {
	t.Parallel()
	s := boardOn(sharedSite(t))
	task := s.task(object{"title": " A sonnet "})
	members := []string{
		"actions", "amount_minor", "created_at", "customer", "deadline", "description", "fee_bps", "fee_minor", "id", "order_id",
		"response_count", "state", "title", "total_minor", "updated_at",
	}
	require.Equal(t, members, slices.Sorted(maps.Keys(task)))
	contains(t, task, object{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00.000000Z", "amount_minor": 1000.0, "fee_minor": 100.0,
		"total_minor": 1100.0, "fee_bps": 1000.0, "state": "open", "response_count": 0.0, "order_id": nil,
		"actions": []any{object{"name": "close", "method": "POST", "path": pathOf(task) + "/close", "body": object{}}},
	})
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"},
		slices.Sorted(maps.Keys(task["customer"].(object))))
	require.EqualValues(t, 0, s.wallet(s.customer)["reserved_minor"], "a task reserves nothing")
	require.Equal(t, task, s.see(s.customer, task))

	// The board is public: an anonymous reader sees the same without order and actions.
	seen := s.see(nil, task)
	require.Equal(t, slices.DeleteFunc(members, func(n string) bool { return n == "order_id" }), slices.Sorted(maps.Keys(seen)))
	require.Equal(t, []any{}, seen["actions"])
	require.Equal(t, []any{object{
		"name": "respond", "method": "POST", "path": pathOf(task) + "/responses", "body": object{"text": nil},
	}}, s.see(s.one, task)["actions"])
}

// A task is on the board only while its customer is active and not suspended, whether the profile is open or not. Its customer,
// if not suspended, and the agents that have responded still see it.
func TestTasksFollowTheirCustomer(t *testing.T) {
	t.Parallel()
	s := boardOn(newSite(t))
	task := s.task(nil)
	s.respond(s.one, task, object{"text": "Me."})
	listed := func() bool {
		t.Helper()
		all := s.get(s.other, "/tasks").ok(200)["tasks"].([]any)
		found := s.get(nil, "/tasks?q=sonnet").ok(200)["tasks"].([]any)
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
				customer := seen.ok(200)["task"].(object)["customer"].(object)
				require.Equal(t, s.customer.ID.String(), customer["id"])
				require.NotEmpty(t, customer["handle"])
			} else {
				seen.fault(fault.NotFound)
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
func (s *trade) terms(changes object) object {
	return changed(object{
		"operation_id": uuid.NewString(), "title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z",
		"amount_minor": 1000, "contractor_id": s.contractor.ID, "confirmed_total_minor": 1100,
	}, changes)
}

// asked returns the same terms as an offer by the contractor.
func (s *trade) asked() object {
	return s.terms(object{"contractor_id": nil, "confirmed_total_minor": nil, "customer_id": s.customer.ID})
}

func changed(body, changes object) object {
	maps.Copy(body, changes)
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
	return body
}

// offer makes an order and returns its card.
func (s *trade) offer(by *graphtest.Agent, terms object) object {
	s.t.Helper()
	return s.post(by, "/orders", terms).ok(201)["order"].(object)
}

// act sends an action on the version of a card.
func (s *trade) act(by *graphtest.Agent, card object, action string, changes object) *answer {
	s.t.Helper()
	return s.post(by, "/orders/"+card["id"].(string)+"/"+action, changed(object{"operation_id": uuid.NewString(), "expected_version": card["version"]}, changes))
}

// step sends an action that must succeed.
func (s *trade) step(by *graphtest.Agent, card object, action string, changes object) object {
	s.t.Helper()
	return s.act(by, card, action, changes).ok(200)["order"].(object)
}

// delivered returns an order that waits for the customer's acceptance.
func (s *trade) delivered() object {
	s.t.Helper()
	card := s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil)
	return s.step(s.contractor, s.step(s.contractor, card, "start", nil), "deliver", object{"result_text": "Done."})
}

func TestOrderFromQuoteToPayment(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	require.Equal(t, object{"quote": object{"amount_minor": 1000.0, "fee_minor": 100.0, "total_minor": 1100.0, "fee_bps": 1000.0}},
		s.post(s.customer, "/orders/quote", `{"amount_minor":1000}`).ok(200))
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
		slices.Sorted(maps.Keys(card["contractor"].(object))))
	require.Equal(t, []any{object{
		"name": "cancel", "method": "POST", "path": "/api/v1/orders/" + card["id"].(string) + "/cancel",
		"body": object{"operation_id": nil, "expected_version": 1.0},
	}}, card["actions"])

	card = s.step(s.contractor, card, "accept", nil)
	require.EqualValues(t, 1100, s.get(s.customer, "/wallet").ok(200)["wallet"].(object)["reserved_minor"])
	card = s.step(s.contractor, card, "start", nil)
	card = s.step(s.contractor, card, "deliver", object{"result_text": "Done.", "result_attachment_ids": []string{}})
	card = s.step(s.customer, card, "complete", nil)
	require.Equal(t, "closed", card["state"])
	require.Equal(t, "accepted", card["outcome"])
	require.Equal(t, []any{}, card["actions"])
	wallet := s.get(s.contractor, "/wallet").ok(200)["wallet"].(object)
	require.EqualValues(t, 501000, wallet["available_minor"])

	detail := s.get(s.customer, "/orders/"+card["id"].(string)).ok(200)
	require.Equal(t, card, detail["order"])
	var actions []any
	for i, e := range detail["events"].([]any) {
		event := e.(object)
		require.Equal(t, []string{"action", "created_at", "participant_id", "reason", "state", "version"}, slices.Sorted(maps.Keys(event)))
		require.EqualValues(t, i+1, event["version"])
		actions = append(actions, event["action"])
	}
	require.Equal(t, []any{"create", "accept", "start", "deliver", "complete"}, actions)
	list := s.get(s.customer, "/orders?state=closed").ok(200)
	require.Equal(t, object{"orders": []any{card}, "page": 1.0, "page_size": 20.0, "next_page": nil}, list)
	for _, kind := range []string{"reserve", "payment"} {
		require.Contains(t, string(s.get(s.customer, "/wallet/history").raw), `"kind":"`+kind+`"`)
	}
}
