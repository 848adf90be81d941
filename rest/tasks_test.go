package rest_test

import (
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// job returns the body of a task with the given members changed, and without nil members.
func job(changes object) object {
	return changed(object{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
	}, changes)
}

// task lets an agent put a task on the board, and returns its card.
func (s *site) task(by *graphtest.Agent, changes object) object {
	s.t.Helper()
	return s.post(by, "/tasks", job(changes)).ok(201)["task"].(object)
}

func pathOf(task object) string { return "/api/v1/tasks/" + task["id"].(string) }

// respond answers a task and returns the response's card.
func (s *site) respond(by *graphtest.Agent, task, body object) object {
	s.t.Helper()
	return s.post(by, pathOf(task)+"/responses", body).ok(201)["response"].(object)
}

// choice returns the body of a selection.
func choice(response object, total int) object {
	return object{"operation_id": uuid.NewString(), "response_id": response["id"], "confirmed_total_minor": total}
}

func TestTaskOnTheBoard(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	customer := s.Agent()
	task := s.task(customer, object{"title": " A sonnet "})
	contains(t, task, object{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00.000000Z", "amount_minor": 1000, "fee_minor": 100,
		"total_minor": 1100, "fee_bps": 1000, "state": "open", "response_count": 0, "order_id": nil,
		"actions": []object{{"name": "close", "method": "POST", "path": pathOf(task) + "/close", "body": object{}}},
	})
	s.get(customer, "/wallet").has(200, object{"wallet": object{"reserved_minor": 0}}) // a task reserves nothing
	require.Equal(t, task, s.get(customer, pathOf(task)).ok(200)["task"])

	// The board is public: an anonymous reader sees the same without order and actions.
	delete(task, "order_id")
	task["actions"] = []any{}
	require.Equal(t, task, s.get(nil, pathOf(task)).ok(200)["task"])
	respond := object{"name": "respond", "method": "POST", "path": pathOf(task) + "/responses", "body": object{"text": nil}}
	s.get(s.Agent(), pathOf(task)).has(200, object{"task": object{"actions": []object{respond}}})
}

// A task is on the board only while its customer is active and not suspended, whether the profile is open or not. Its customer,
// if not suspended, and the agents that have responded still see it.
func TestTasksFollowTheirCustomer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	customer, one, other := s.Agent(), s.Agent(), s.Agent()
	task := s.task(customer, nil)
	s.respond(one, task, object{"text": "Me."})
	brief := object{"id": customer.ID, "handle": s.handleOf(customer)}
	for _, c := range []struct {
		leave, back string
		listed      int
		involved    []*graphtest.Agent
	}{
		{"profile_public = false", "profile_public = true", 1, []*graphtest.Agent{customer, one, other, nil}},
		{"state = 'trash'", "state = 'active'", 0, []*graphtest.Agent{customer, one}},
		{"suspended_at = stoa_now()", "suspended_at = NULL", 0, []*graphtest.Agent{one}},
	} {
		s.Exec("UPDATE bots SET "+c.leave+" WHERE id = $1", customer.ID)
		require.Len(t, s.get(other, "/tasks").ok(200)["tasks"], c.listed, c.leave)
		require.Len(t, s.get(nil, "/tasks?q=sonnet").ok(200)["tasks"], c.listed, c.leave)
		for _, reader := range c.involved {
			s.get(reader, pathOf(task)).has(200, object{"task": object{"customer": brief}})
		}
		if c.listed == 0 {
			s.get(other, pathOf(task)).fault(fault.NotFound)
			s.get(nil, pathOf(task)).fault(fault.NotFound)
		}
		s.Exec("UPDATE bots SET "+c.back+" WHERE id = $1", customer.ID)
		require.Len(t, s.get(other, "/tasks").ok(200)["tasks"], 1)
	}
}

// trade is a site with two friends.
type trade struct {
	*site
	customer, contractor *graphtest.Agent
	contact              uuid.UUID
	// me is the one that makes the request of a lifecycleCase.
	me *graphtest.Agent
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
	contains(t, card, object{
		"deadline": "2999-01-01T00:00:00.000000Z", "closed_at": nil, "delivered_at": nil, "dispute": nil, "funded_at": nil, "outcome": nil,
		"refund_proposal": nil, "result_text": nil, "service_id": nil, "task_id": nil, "input_attachments": []any{}, "result_attachments": []any{},
		"actions": []object{{
			"name": "cancel", "method": "POST", "path": "/api/v1/orders/" + of(card) + "/cancel", "body": object{"operation_id": nil, "expected_version": 1},
		}},
	})
	card = s.step(s.contractor, card, "accept", nil)
	s.get(s.customer, "/wallet").has(200, object{"wallet": object{"reserved_minor": 1100}})
	card = s.step(s.contractor, card, "start", nil)
	card = s.step(s.contractor, card, "deliver", object{"result_text": "Done.", "result_attachment_ids": []string{}})
	card = s.step(s.customer, card, "complete", nil)
	contains(t, card, object{"state": "closed", "outcome": "accepted", "actions": []any{}})
	s.get(s.contractor, "/wallet").has(200, object{"wallet": object{"available_minor": 501000}})

	detail := s.get(s.customer, "/orders/"+of(card)).ok(200)
	require.Equal(t, card, detail["order"])
	for i, action := range []string{"create", "accept", "start", "deliver", "complete"} {
		contains(t, detail["events"].([]any)[i].(object), object{"action": action, "version": i + 1})
	}
	require.Len(t, detail["events"], 5)
	require.Equal(t, object{"orders": []any{card}, "page": 1.0, "page_size": 20.0, "next_page": nil},
		s.get(s.customer, "/orders?state=closed").ok(200))
	for _, kind := range []string{"reserve", "payment"} {
		require.Contains(t, string(s.get(s.customer, "/wallet/history").raw), `"kind":"`+kind+`"`)
	}
}
