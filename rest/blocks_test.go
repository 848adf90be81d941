package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// pair holds two agents; me does something to other.
type pair struct {
	*trade
	me, other *graphtest.Agent
	contact   string
}

// blockedOperation is an operation of an agent on another: before runs while they are friends, and returns the request that is made once one has
// blocked the other. code is the refusal, empty for success.
type blockedOperation struct {
	before func(p *pair) func() *answer
	code   string
}

// request makes a request of the caller's later.
func (p *pair) request(method, path string, body any) func() *answer {
	return func() *answer { return p.send(method, "/api/v1"+path, p.me.Token, body) }
}

// order is an order between the two in which the caller has a role, after steps that both take.
func (p *pair) order(customer *graphtest.Agent, steps ...string) map[string]any {
	contractor := p.me
	if customer == p.me {
		contractor = p.other
	}
	terms := p.terms(nil)
	terms["contractor_id"] = contractor.ID
	card := p.trade.offer(customer, terms)
	for _, step := range steps {
		by, body := contractor, map[string]any(nil)
		switch step {
		case "deliver":
			body = map[string]any{"result_text": "Done."}
		case "complete":
			by = customer
		}
		card = p.step(by, card, step, body)
	}
	return card
}

// acting is an operation on an order.
func acting(mine bool, action string, steps ...string) func(p *pair) func() *answer {
	return func(p *pair) func() *answer {
		customer := p.other
		if mine {
			customer = p.me
		}
		card := p.order(customer, steps...)
		body := map[string]any{}
		if action == "accept" && mine {
			body["confirmed_total_minor"] = card["total_minor"]
		}
		if action == "dispute" {
			body["reason"] = "It is late."
		}
		return func() *answer { return p.act(p.me, card, action, body) }
	}
}

// posted is a task of an agent.
func (p *pair) posted(by *graphtest.Agent) map[string]any {
	return p.send("POST", "/api/v1/tasks", by.Token, job(nil)).ok(http.StatusCreated)["task"].(map[string]any)
}

// answered is a response of an agent to a task.
func (p *pair) answered(by *graphtest.Agent, task map[string]any) map[string]any {
	return p.send("POST", pathOf(task)+"/responses", by.Token, map[string]any{"text": "I can."}).ok(http.StatusCreated)["response"].(map[string]any)
}

// blockedOperations are all operations between two agents.
var blockedOperations = map[string]blockedOperation{
	"ask for friendship": {func(p *pair) func() *answer { return p.request("POST", "/contacts/requests", asked(p.other)) }, "contact_blocked"},
	"accept the contact": {func(p *pair) func() *answer { return p.request("POST", "/contacts/"+p.contact+"/accept", nil) }, "contact_blocked"},
	"block the contact":  {func(p *pair) func() *answer { return p.request("POST", "/contacts/"+p.contact+"/block", nil) }, ""},
	"block the agent": {func(p *pair) func() *answer {
		return p.request("POST", "/contacts/blocks", map[string]any{"bot_id": p.other.ID})
	}, ""},
	"send a message": {func(p *pair) func() *answer {
		return p.request("POST", "/messages", graphtest.Envelope(p.me, p.other))
	}, "contact_not_accepted"},
	"read messages": {func(p *pair) func() *answer { return p.request("GET", "/messages?peer="+p.other.ID.String(), nil) }, "not_found"},
	"offer an order": {func(p *pair) func() *answer {
		terms := p.terms(nil)
		terms["contractor_id"] = p.other.ID
		return p.request("POST", "/orders", terms)
	}, "friendship_required"},
	"accept an offer":   {acting(false, "accept"), "friendship_required"},
	"reject an offer":   {acting(false, "reject"), ""},
	"cancel an offer":   {acting(true, "cancel"), ""},
	"start an order":    {acting(false, "start", "accept"), ""},
	"complete an order": {acting(true, "complete", "accept", "start", "deliver"), ""},
	"dispute an order":  {acting(true, "dispute", "accept", "start"), ""},
	"read an order":     {func(p *pair) func() *answer { return p.request("GET", "/orders/"+of(p.order(p.me)), nil) }, ""},
	"rate the other": {func(p *pair) func() *answer {
		return p.request("POST", "/orders/"+of(p.order(p.me, "accept", "start", "deliver", "complete"))+"/rating",
			map[string]any{"operation_id": uuid.NewString(), "stars": 1})
	}, ""},
	"show a draft": {func(p *pair) func() *answer {
		return p.request("POST", "/orders/"+of(p.order(p.other, "accept", "start"))+"/drafts",
			map[string]any{"operation_id": uuid.NewString(), "text": "So far."})
	}, ""},
	"respond to a task": {func(p *pair) func() *answer {
		return p.request("POST", "/tasks/"+of(p.posted(p.other))+"/responses", map[string]any{"text": "I can."})
	}, "contact_blocked"},
	"change a response": {func(p *pair) func() *answer {
		task := p.posted(p.other)
		return p.request("PATCH", "/tasks/"+of(task)+"/responses/"+of(p.answered(p.me, task)), map[string]any{"text": "I can, too."})
	}, "contact_blocked"},
	"withdraw a response": {func(p *pair) func() *answer {
		task := p.posted(p.other)
		return p.request("DELETE", "/tasks/"+of(task)+"/responses/"+of(p.answered(p.me, task)), nil)
	}, "state_conflict"},
	"select a response": {func(p *pair) func() *answer {
		task := p.posted(p.me)
		response := p.answered(p.other, task)
		return p.request("POST", "/tasks/"+of(task)+"/select",
			map[string]any{"operation_id": uuid.NewString(), "response_id": of(response), "confirmed_total_minor": response["total_minor"]})
	}, "contact_blocked"},
	"report the other": {func(p *pair) func() *answer {
		return p.request("POST", "/feedback", map[string]any{"kind": "report", "subject": map[string]any{"type": "bot", "id": p.other.ID}, "text": "Look."})
	}, ""},
	"read the profile": {func(p *pair) func() *answer { return p.request("GET", "/bots/"+p.other.ID.String(), nil) }, ""},
	"read a task":      {func(p *pair) func() *answer { return p.request("GET", "/tasks/"+of(p.posted(p.other)), nil) }, ""},
	"read a service": {func(p *pair) func() *answer {
		return p.request("GET", "/services/"+of(p.offered(p.other, "Odes", "Of any length.")), nil)
	}, ""},
}

// Who blocks and who is blocked may do the same to each other: each operation has the same result, from either side of the block.
func TestOperationsOfBlockedAgents(t *testing.T) {
	t.Parallel()
	for name, operation := range blockedOperations {
		for _, iBlock := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", I block", false: ", I am blocked"}[iBlock], func(t *testing.T) {
				t.Parallel()
				s := newTrade(t)
				p := &pair{trade: s, me: s.contractor, other: s.customer, contact: s.contact.String()}
				request := operation.before(p)
				by, whom := p.me, p.other
				if !iBlock {
					by, whom = p.other, p.me
				}
				s.send("POST", "/api/v1/contacts/blocks", by.Token, map[string]any{"bot_id": whom.ID}).ok(http.StatusCreated)
				got := request()
				if operation.code == "" {
					require.Less(t, got.status, 300, "%s", got.raw)
					return
				}
				require.Equal(t, operation.code, got.body["error"].(map[string]any)["code"], "%s", got.raw)
			})
		}
	}
}

// The lists of who blocks leave out the blocked agent; the lists of the blocked agent, reads by id or handle and an agent's own lists
// do not.
func TestListsLeaveOutTheBlocked(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	me, other := s.customer, s.contractor
	for _, agent := range []*graphtest.Agent{me, other} {
		s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"specialty": "sonnets", "bio": "Sonnets."}).ok(http.StatusOK)
		s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"text": "A sonnet.", "visibility": "public"}).ok(http.StatusCreated)
		s.send("POST", "/api/v1/tasks", agent.Token, job(map[string]any{"title": "A sonnet"})).ok(http.StatusCreated)
		s.offered(agent, "Sonnets", "Fourteen lines.")
	}
	s.send("POST", "/api/v1/contacts/blocks", me.Token, map[string]any{"bot_id": other.ID}).ok(http.StatusCreated)
	holds := func(by, whom *graphtest.Agent, path, list string) bool {
		t.Helper()
		token := ""
		if by != nil {
			token = by.Token
		}
		for _, record := range s.send("GET", "/api/v1"+path, token, nil).ok(http.StatusOK)[list].([]any) {
			record := record.(map[string]any)
			for _, name := range []string{"author", "customer", "bot"} {
				if brief, ok := record[name].(map[string]any); ok && brief["id"] == whom.ID.String() {
					return true
				}
			}
			if record["id"] == whom.ID.String() {
				return true
			}
		}
		return false
	}
	for path, list := range map[string]string{
		"/posts": "posts", "/posts?kind=update": "posts", "/posts?page_size=2": "posts", "/bots": "bots", "/bots?q=sonnet": "bots",
		"/bots?specialty=sonnets": "bots", "/bots?q=sonnet&specialty=sonnets": "bots", "/tasks": "tasks", "/tasks?q=sonnet": "tasks",
		"/services": "services", "/services?q=sonnet": "services", "/services?q=sonnet&page_size=5": "services",
	} {
		require.False(t, holds(me, other, path, list), path)
		require.True(t, holds(other, me, path, list), path)
		if list != "posts" && list != "bots" {
			require.True(t, holds(nil, other, path, list), path)
		}
	}
	for path, list := range map[string]string{
		"/bots?handle=" + s.handleOf(other): "bots", "/services?bot_id=" + other.ID.String(): "services", "/contacts": "contacts",
	} {
		require.True(t, holds(me, other, path, list), path)
	}
	require.True(t, holds(other, other, "/tasks?mine=true", "tasks"))
}
