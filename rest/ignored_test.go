package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
	"stoa/rest"
	"stoa/rest/resttest"
)

// An answer lists the ignored parameters, so that a caller does not take a whole list for a filtered one.
func TestIgnoredParametersAreNamed(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("p%d", i)
	}
	for target, named := range map[string]string{
		"/tasks":                                "",
		"/tasks?state=open&page=1":              "",
		"/tasks?customer_id=me&state=open":      "customer_id",
		"/tasks?b=1&a=2&b=3&c":                  "b, a, c",
		"/tasks?&=x&":                           "",
		"/tasks?a%20b=1&%2C=2&%0d%0aX=1&%zz=":   "a%20b, %2C, %0D%0AX, %25zz",
		"/tasks?" + strings.Join(many, "&"):     strings.Join(many[:10], ", "),
		"/bots/me?fields=id":                    "fields",
		"/posts?page=1&author=me":               "author",
		"/orders/" + agent.ID.String() + "?x=1": "x",
	} {
		answer := s.get(agent, ""+target)
		require.Equal(t, named, answer.header.Get("X-Ignored-Parameters"), target)
	}
	for target, named := range map[string]string{
		"/healthz?x=1": "x", "/readyz?x=1": "x", "/api/v1/openapi.json?x=1": "x", "/skill.md?x=1&y": "x, y", "/contract.md": "",
		"/log/1/checkpoint?x=1": "x", "/log/1/consistency?old=0&x=1": "x",
	} {
		require.Equal(t, named, s.send("GET", target, "", nil).header.Get("X-Ignored-Parameters"), target)
	}
	tools := s.send("POST", "/mcp?results=text", agent.Token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"Accept", "application/json, text/event-stream").is(200)
	require.Equal(t, "results", tools.header.Get("X-Ignored-Parameters"))
	written := s.post(agent, "/orders/quote?currency=eur", `{"amount_minor":1000}`).is(200)
	require.Equal(t, "currency", written.header.Get("X-Ignored-Parameters"))
	for _, path := range []string{"/wallet?x=1", "/wallet?&", "/wallet/history?x=1"} {
		refused := s.get(agent, path).refused(fault.InvalidInput)
		require.Empty(t, refused.header.Get("X-Ignored-Parameters"), path)
	}
}

// The fault for a wrong total has the right one, for every request that confirms a total.
func TestPriceChangedNamesTheTotal(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	task := s.task(s.customer, nil)
	response := s.respond(s.contractor, task, object{"text": "I can.", "amount_minor": 4000})
	offer := s.offer(s.contractor, s.asked())
	for name, wrong := range map[string]struct {
		answer *answer
		total  string
	}{
		"create": {s.post(s.customer, "/orders", s.terms(object{"confirmed_total_minor": 1})), "1100"},
		"accept": {s.act(s.customer, offer, "accept", object{"confirmed_total_minor": 1}), "1100"},
		"select": {s.post(s.customer, pathOf(task)+"/select", choice(response, 4000)), "4400"},
	} {
		wrong.answer.fault(fault.PriceChanged)
		require.Equal(t, object{"confirmed_total_minor": "must be " + wrong.total}, wrong.answer.body["error"].(object)["fields"], name)
	}
}

// A stored answer to a repeat is marked on every route with an id of the client's choice, and on no other.
func TestReplaysAreMarked(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	post := func(path, token string, body any) func() *answer {
		return func() *answer { return s.send("POST", path, token, body) }
	}
	offer := s.offer(s.contractor, s.asked())
	delivered := s.delivered()
	s.step(s.customer, delivered, "complete", nil)
	task, other := s.task(s.customer, nil), s.task(s.customer, nil)
	response := s.respond(s.contractor, task, object{"text": "I can."})
	upload := uploadForm("order", pngOf(t, 4, 4))
	stranger := s.Agent()

	for name, call := range map[string]struct {
		send   func() *answer
		marked bool
	}{
		"offer": {post("/api/v1/orders", s.customer.Token, s.terms(nil)), true},
		"action": {post("/api/v1/orders/"+offer["id"].(string)+"/accept", s.customer.Token,
			object{"operation_id": uuid.NewString(), "expected_version": 1, "confirmed_total_minor": 1100}), true},
		"rating": {post("/api/v1/orders/"+delivered["id"].(string)+"/rating", s.customer.Token,
			object{"operation_id": uuid.NewString(), "stars": 5}), true},
		"selection":           {post(pathOf(task)+"/select", s.customer.Token, choice(response, 1100)), true},
		"message":             {post(messagesPath, s.customer.Token, envelope(s.customer, s.contractor)), true},
		"upload":              {func() *answer { return s.upload(s.customer.Token, upload) }, true},
		"friendship request":  {post("/api/v1/contacts/requests", s.customer.Token, object{"recipient_id": stranger.ID}), false},
		"block of a stranger": {post("/api/v1/contacts/blocks", s.customer.Token, object{"bot_id": s.Agent().ID}), false},
		"response to a task":  {post(pathOf(other)+"/responses", s.contractor.Token, object{"text": "I can."}), false},
		"report": {post("/api/v1/feedback", s.customer.Token,
			object{"kind": "report", "text": "It asks for tokens.", "subject": object{"type": "bot", "id": stranger.ID}}), false},
	} {
		first := call.send()
		made := http.StatusCreated
		if name == "action" {
			made = http.StatusOK
		}
		first.ok(made)
		require.Empty(t, first.header.Values("Idempotent-Replayed"), name)
		again := call.send()
		again.ok(200)
		require.Equal(t, string(first.raw), string(again.raw), name)
		require.Equal(t, call.marked, again.header.Get("Idempotent-Replayed") == "true", name)
	}
}

// malformed holds bodies that are not a JSON object (§4.1), and objects with a field that no route has.
var malformed = []string{
	"", "{", "[]", "null", `"x"`, "1", "{}{}", "{} x", "\ufeff{}", "{\"x\":\"\xff\"}", `{"x":"\ud800"}`,
	`{"x":1,"x":1}`, `{"x":1}`, `{"":1}`,
}

// malformedCodes are the codes of a malformed body, by path prefix, if they are not invalid_input.
var malformedCodes = map[string]fault.Code{
	"/api/v1/posts": fault.InvalidField, "/api/v1/contacts/": fault.InvalidID, "/api/v1/messages": fault.InvalidEnvelope,
}

// malformedCode returns a route's code for a malformed body. Posts have a separate code for an unknown field.
func malformedCode(path, body string) fault.Code {
	for route, code := range malformedCodes {
		if code == fault.InvalidField && (body == `{"x":1}` || body == `{"":1}`) && strings.HasPrefix(path, route) {
			return fault.UnknownFields
		}
		if strings.HasPrefix(path, route) {
			return code
		}
	}
	return fault.InvalidInput
}

// Each route refuses a caller without access, an unknown method, a body of another type or size, a malformed body and a malformed
// id.
func TestRefusalsOfEveryRoute(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)), graphtest.WithWebhooks(webhooks.SenderConfig{})).withAgent()
	s.RequireOwners()
	methods, examples := make(map[string][]string), make(object)
	rows := rest.Rows(s.Graph)
	for _, row := range rows {
		methods[row.Path] = append(methods[row.Path], row.Method)
	}
	for _, o := range resttest.Load().Operations {
		if example := requestExample(o); example != nil {
			examples[o.Method+" "+o.Path] = example
		}
	}
	for _, row := range rows {
		path := parameter.ReplaceAllString(row.Path, uuid.NewString())
		send := func(token string, body any, headers ...string) *answer {
			return s.send(row.Method, path, token, body, headers...)
		}
		t.Log(row.Method, row.Path)
		for _, wrong := range []string{"Bearer stoa_" + strings.Repeat("x", 49), "Bearer x", "Basic " + agent.Token, agent.Token} {
			if !row.Anyone {
				send("", nil, "Authorization", wrong).fault(fault.Unauthorized)
			}
		}
		if !row.Anyone && !row.Readers {
			send("", nil).fault(fault.Unauthorized)
		}
		s.send(row.Method, path+"/", agent.Token, nil).fault(fault.NotFound)
		refused := s.send("PURGE", path, agent.Token, "{}").refused(fault.MethodNotAllowed)
		require.Equal(t, allow(methods[row.Path]), refused.header.Get("Allow"))
		if row.Body != "" {
			send(agent.Token, "{}", "Content-Type", "text/plain").fault(fault.UnsupportedMediaType)
		}
		if row.Body == "application/json" {
			requireBodies(t, s, row, path, agent.Token)
		}
		for _, name := range parameter.FindAllString(row.Path, -1) {
			path = parameter.ReplaceAllString(strings.Replace(row.Path, name, "x", 1), uuid.NewString())
			if name != "{n}" { // the export of the part is read first
				send(agent.Token, examples[row.Method+" "+row.Path]).fault(fault.InvalidID)
			}
		}
	}
}

// allow returns the Allow header of a path with these methods.
func allow(methods []string) string {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(slices.Clone(methods), http.MethodHead)
	}
	return strings.Join(append(slices.Sorted(slices.Values(methods)), http.MethodOptions), ", ")
}

// requireBodies requires that a route that reads JSON refuses other bodies.
func requireBodies(t *testing.T, s *site, row rest.Row, path, token string) {
	t.Helper()
	if !row.Empty {
		s.send(row.Method, path, token, nil).fault(fault.UnsupportedMediaType)
	}
	large := graphtest.Got(json.Marshal(object{"x": strings.Repeat("x", 64<<10)}))(t)
	s.send(row.Method, path, token, string(large)).fault(fault.PayloadTooLarge)
	for _, body := range malformed {
		if body != "" || !row.Empty {
			s.send(row.Method, path, token, body).fault(malformedCode(row.Path, body))
		}
	}
}
