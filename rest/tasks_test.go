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

// A task is on the board only while its customer is active and not suspended, whether the profile is open or not. An unsuspended
// customer and the agents that have responded still see it.
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
	// me is the agent that makes the request of a lifecycleCase.
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
