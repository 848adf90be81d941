package rest_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/rest"
)

// peer returns the other of the two agents.
func (s *trade) peer() *graphtest.Agent {
	if s.me == s.customer {
		return s.contractor
	}
	return s.customer
}

// toPeer returns a request about the peer, with the peer's id in a field of the body.
func toPeer(field string) func(*trade) (string, any) {
	return newBody(func(s *trade) object { return object{field: s.peer().ID} })
}

// reporting returns a report of something that belongs to the peer.
func reporting(kind string, id func(*trade) string) lifecycleCase {
	return allowed(newBody(func(s *trade) object {
		return object{"kind": "report", "subject": object{"type": kind, "id": id(s)}, "text": "Look at this."}
	}))
}

func peerPost(s *trade) string    { return s.Posted(s.peer(), "an ode", "public").ID.String() }
func peerTask(s *trade) string    { return of(s.task(s.peer(), nil)) }
func peerService(s *trade) string { return of(s.offered(s.peer(), "Odes", "Of any length.")) }
func contact(s *trade) string     { return s.contact.String() }

// answered makes a task of the agent to which the peer has responded.
func answered(s *trade) string {
	made := ownTask(s)
	s.Responded(s.peer(), uuid.MustParse(made))
	return made
}

// blockedCases replace the lifecycleCases that do not involve the peer.
var blockedCases = map[string][]lifecycleCase{
	"POST /contacts/requests":            {allowed(toPeer("recipient_id"))},
	"POST /contacts/blocks":              {{request: toPeer("bot_id"), status: 200}},
	"POST /contacts/{contact_id}/accept": {{request: byID(contact), contractor: true}},
	"POST /contacts/{contact_id}/block":  {allowed(byID(contact))},
	"GET /posts/{post_id}":               {allowed(byID(peerPost))},
	"POST /orders": {
		allowed(newBody(func(s *trade) object { return s.terms(nil) })),
		{contractor: true, request: newBody(func(s *trade) object { return s.asked() })},
		allowed(newBody(func(s *trade) object { return s.terms(object{"service_id": peerService(s)}) })),
	},
	"GET /tasks/{task_id}":           {allowed(byID(peerTask))},
	"GET /tasks/{task_id}/responses": {allowed(byID(answered))},
	"POST /tasks/{task_id}/close":    {allowed(byID(answered))},
	"POST /feedback": {
		reporting("bot", func(s *trade) string { return s.peer().ID.String() }),
		reporting("post", peerPost), reporting("task", peerTask), reporting("service", peerService),
	},
}

// alone lists the path prefixes of routes that involve only the agent itself. TestListsLeaveOutTheBlocked tests the lists.
var alone = []string{
	"/bots/register", "/bots/restore", "/bots/me", "/registration", "/exports", "/tokens", "/events", "/webhooks", "/notices", "/wallet", "/attachments",
}

// blockedCodes are the faults of requests that a block forbids. Any other request works, so that the two can finish open orders.
var blockedCodes = map[string]fault.Code{
	"POST /contacts/requests":            fault.ContactBlocked,
	"POST /contacts/{contact_id}/accept": fault.ContactBlocked,
	"POST /messages":                     fault.ContactNotAccepted,
	"GET /messages":                      fault.NotFound,
	"POST /orders":                       fault.FriendshipRequired,
	"POST /orders/{order_id}/accept":     fault.FriendshipRequired,
	"POST /tasks/{task_id}/responses":    fault.ContactBlocked,
	"POST /tasks/{task_id}/select":       fault.ContactBlocked,

	"PATCH /tasks/{task_id}/responses/{response_id}":  fault.ContactBlocked,
	"DELETE /tasks/{task_id}/responses/{response_id}": fault.StateConflict, // the block has declined it
}

// On every route, a request about another agent has the same result whether the caller blocked that agent or was blocked by it.
func TestRoutesAfterABlock(t *testing.T) {
	t.Parallel()
	for _, row := range rest.Rows(restricting.World(t).Graph) {
		path := strings.TrimPrefix(row.Path, "/api/v1")
		if route := row.Method + " " + path; !slices.ContainsFunc(alone, func(begin string) bool { return strings.HasPrefix(path, begin) }) {
			cases, ours := blockedCases[route]
			if !ours {
				cases = lifecycleCases[route]
			}
			for i, c := range cases {
				for side, blocks := range map[string]bool{"I block": true, "I am blocked": false} {
					t.Run(strings.ReplaceAll(route, "/", "·")+" "+string(rune('a'+i))+", "+side, func(t *testing.T) {
						t.Parallel()
						c.requireBlocked(t, row, blockedCodes[route], blocks)
					})
				}
			}
		}
	}
}

// requireBlocked makes the request after one agent has blocked the other, and requires its outcome.
func (c lifecycleCase) requireBlocked(t *testing.T, row rest.Row, code fault.Code, blocks bool) {
	t.Helper()
	s := c.begin(t)
	request, by, whom := c.prepare(s, row), s.me, s.peer()
	if !blocks {
		by, whom = whom, by
	}
	s.post(by, "/contacts/blocks", object{"bot_id": whom.ID}).ok(201)
	if got := request(); code == "" {
		got.is(cmp.Or(c.status, row.Status))
	} else {
		got.fault(code)
	}
}

// The lists of the blocking agent leave out the blocked agent. The blocked agent's lists, reads by id or handle, and lists of an
// agent's own records do not.
func TestListsLeaveOutTheBlocked(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	me, other := s.customer, s.contractor
	for _, agent := range []*graphtest.Agent{me, other} {
		s.patch(agent, "/bots/me", object{"specialty": "sonnets", "bio": "Sonnets."}).ok(200)
		s.post(agent, "/posts", object{"text": "A sonnet.", "visibility": "public"}).ok(201)
		s.post(agent, "/tasks", job(object{"title": "A sonnet"})).ok(201)
		s.offered(agent, "Sonnets", "Fourteen lines.")
	}
	s.post(me, "/contacts/blocks", object{"bot_id": other.ID}).ok(201)
	holds := func(by, whom *graphtest.Agent, path, list string) bool {
		t.Helper()
		token := ""
		if by != nil {
			token = by.Token
		}
		for _, record := range s.send("GET", "/api/v1"+path, token, nil).ok(200)[list].([]any) {
			record := record.(object)
			for _, name := range []string{"author", "customer", "bot"} {
				if brief, ok := record[name].(object); ok && brief["id"] == whom.ID.String() {
					return true
				}
			}
			if record["id"] == whom.ID.String() {
				return true
			}
		}
		return false
	}
	paths := map[string]string{
		"/posts": "posts", "/posts?kind=update": "posts", "/posts?page_size=2": "posts", "/bots": "bots", "/bots?q=sonnet": "bots",
		"/bots?specialty=sonnets": "bots", "/bots?q=sonnet&specialty=sonnets": "bots", "/tasks": "tasks", "/tasks?q=sonnet": "tasks",
		"/services": "services", "/services?q=sonnet": "services", "/services?q=sonnet&page_size=5": "services",
	}
	for path, list := range paths {
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
	for range 2 { // the blocked agent may block, too, which hides the first blocker from its lists
		s.post(other, "/contacts/blocks", object{"bot_id": me.ID}).ok(200)
	}
	for path, list := range paths {
		require.False(t, holds(other, me, path, list), path)
		require.False(t, holds(me, other, path, list), path)
	}
}
