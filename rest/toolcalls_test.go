package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
)

// model is a program that calls tools as an agent.
type model struct {
	t       testing.TB
	session *sdk.ClientSession
	// output holds the schemas of the tools' results.
	output map[string]*jsonschema.Schema
}

// withToken adds a bearer token to requests.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w != "" {
		r.Header.Set("Authorization", "Bearer "+string(w))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (s *site) model(of *graphtest.Agent) *model { return s.modelWith(of.Token) }

// modelWith returns a model with a token; if token is empty, the model sends none.
func (s *site) modelWith(token string) *model {
	s.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session := graphtest.Got(client.Connect(s.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}, DisableStandaloneSSE: true,
	}, nil))(s.t)
	s.t.Cleanup(func() { _ = session.Close() })
	m := &model{s.t, session, make(map[string]*jsonschema.Schema)}
	for tool, err := range session.Tools(s.t.Context(), nil) {
		require.NoError(s.t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(s.t, compiler.AddResource(tool.Name, tool.OutputSchema))
		m.output[tool.Name] = graphtest.Got(compiler.Compile(tool.Name))(s.t)
	}
	return m
}

// call calls a tool that must succeed. The result must follow the tool's schema, and its text must be the same JSON.
func (m *model) call(name string, arguments object) object {
	m.t.Helper()
	result := m.try(name, arguments)
	require.Len(m.t, result.Content, 1)
	text := result.Content[0].(*sdk.TextContent).Text
	require.False(m.t, result.IsError, text)
	var same any
	require.NoError(m.t, json.Unmarshal([]byte(text), &same))
	require.Equal(m.t, same, result.StructuredContent)
	require.NoError(m.t, m.output[name].Validate(result.StructuredContent), "%s %v", name, arguments)
	require.NotRegexp(m.t, "/(api|ws)/v1", text, "a tool names tools")
	return result.StructuredContent.(object)
}

// try calls a tool and accepts any answer.
func (m *model) try(name string, arguments object) *sdk.CallToolResult {
	m.t.Helper()
	return graphtest.Got(m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments}))(m.t)
}

// refused calls a tool that must refuse with a code and the id of the request, and returns the error.
func (m *model) refused(code, name string, arguments object) object {
	m.t.Helper()
	result := m.try(name, arguments)
	text := result.Content[0].(*sdk.TextContent).Text
	require.True(m.t, result.IsError, text)
	var body object
	require.NoError(m.t, json.Unmarshal([]byte(text), &body))
	require.Regexp(m.t, uuidForm, body["request_id"])
	require.Equal(m.t, code, body["error"].(object)["code"], "%s %v: %s", name, arguments, text)
	return body["error"].(object)
}

// offeredTo returns the arguments of an offer to an agent, by id or handle.
func offeredTo(contractor any) object {
	return job(object{"contractor_id": contractor, "confirmed_total_minor": 1100})
}

// on returns the arguments of an action on the present version of an order.
func on(order object, action string, more object) object {
	return changed(object{"order_id": order["id"], "action": action, "expected_version": order["version"]}, more)
}

// Two agents go from registration to a paid order only with tools. Each call that is marked as idempotent is made three times.
func TestToolsTrade(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	customer, contractor := s.Agent(), s.Agent()
	ada, bob := s.model(customer), s.model(contractor)
	idempotent := make(map[string]bool)
	for tool, err := range ada.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		idempotent[tool.Name] = tool.Annotations.IdempotentHint
	}
	call := func(m *model, name string, arguments object) object {
		first := m.call(name, arguments)
		if idempotent[name] {
			m.call(name, arguments)
			require.Equal(t, unfenced(t, first), unfenced(t, m.call(name, arguments)), "%s %v", name, arguments)
		}
		return first
	}
	found := call(ada, "find_agents", object{"bot_id": contractor.ID})
	require.Equal(t, contractor.ID.String(), of(found["bot"].(object)))
	contact := call(ada, "ask_friend", object{"recipient_id": contractor.ID})["contact"].(object)
	call(bob, "answer_friend", object{"contact_id": contact["id"], "answer": "accept"})
	require.EqualValues(t, 1100, call(ada, "wallet", object{"show": "quote", "amount_minor": 1000})["quote"].(object)["total_minor"])
	terms := offeredTo(contractor.ID)
	order := call(ada, "offer_order", terms)["order"].(object)
	act := func(m *model, action string, more object) {
		order = call(m, "act_on_order", on(order, action, more))["order"].(object)
	}
	act(bob, "accept", nil)
	act(bob, "start", nil)
	act(bob, "deliver", object{"result_text": "Shall I compare thee"})
	act(ada, "complete", nil)
	require.Equal(t, "closed", order["state"])
	require.Len(t, call(ada, "orders", object{"order_id": order["id"]})["events"], 5)
	wallet := s.get(customer, "/wallet").ok(200)["wallet"].(object)
	contains(t, call(ada, "wallet", nil), object{"wallet": object{"available_minor": wallet["available_minor"], "reserved_minor": 0}})
	require.Len(t, s.get(customer, "/orders").ok(200)["orders"], 1, "the same offer thrice is one order")

	ada.refused("version_conflict", "act_on_order", on(order, "dispute", object{"expected_version": 1, "reason": "late"}))
	again := changed(terms, object{"operation_id": "7b1c3f6e-9a0e-4a54-8d38-7a4c1b4e4f10"})
	first := order["id"]
	order = call(ada, "offer_order", again)["order"].(object)
	require.NotEqual(t, first, order["id"])
	act(bob, "accept", nil)
	act(ada, "dispute", object{"reason": "It rhymes."})
	contains(t, order, object{"dispute": object{"opened_by": customer.ID}})
	act(ada, "propose-refund", object{"reason": "Give it back."})
	contains(t, order, object{"refund_proposal": object{"proposed_by": customer.ID}})
	act(bob, "approve-refund", nil)
	contains(t, order, object{"outcome": "refunded"})
	for _, name := range []string{"me", "find_agents", "friends", "find_tasks", "find_services", "read_posts", "orders", "wallet", "events"} {
		call(ada, name, nil)
	}
}

// unfenced returns content without its parts that differ between two calls.
func unfenced(t testing.TB, content object) string {
	t.Helper()
	content = maps.Clone(content)
	delete(content, "replayed")
	delete(content, "now")
	raw := graphtest.Got(json.Marshal(content))(t)
	return string(regexp.MustCompile(`\\u003c(/?)untrusted [0-9a-f]{16}\\u003e`).ReplaceAll(raw, []byte("<${1}untrusted>")))
}

// A wrong call fails with the contract's code, and no incomplete request is sent.
func TestToolsRefuse(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	m := s.model(s.customer)
	for _, c := range []struct {
		tool, code, message string
		arguments           object
	}{
		{"ask_friend", "invalid_id", "", nil},
		{"ask_friend", "invalid_input", "nobody is no argument", object{"nobody": 1}},
		{"ask_friend", "not_found", "", object{"recipient_id": "01a20005-3279-7101-88e5-f352f236b427"}},
		{"act_on_order", "invalid_input", "action must be one of accept", object{"order_id": "x", "action": "pay"}},
		{"act_on_order", "invalid_input", "order_id is missing", object{"action": "accept", "expected_version": 1}},
		{"act_on_order", "invalid_input", "confirmed_total_minor does not go with action reject", object{
			"order_id": "x", "action": "reject", "expected_version": 1, "confirmed_total_minor": 1,
		}},
		{"wallet", "invalid_input", "limit goes only with show=history", object{"limit": 2}},
		{"find_agents", "invalid_input", "kind goes only with bot_id", object{"q": "fox", "kind": "update"}},
		{"act_on_order", "invalid_id", "", object{"order_id": "../me", "action": "accept", "expected_version": 1}},
		{"find_agents", "invalid_pagination", "", object{"page": 0}},
		{"offer_order", "invalid_input", "", object{"title": "x"}},
	} {
		require.Contains(t, m.refused(c.code, c.tool, c.arguments)["message"], c.message)
	}
	require.Equal(t, s.get(s.customer, "/bots?page=0").fault(fault.InvalidPagination),
		m.refused("invalid_pagination", "find_agents", object{"page": 0}), "the same code, message and fields")
	require.ErrorContains(t, graphtest.Err(m.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "rm"})), "rm")
	const id = "01a20005-3279-7101-88e5-f352f236b427"
	sent := object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "orders", "arguments": object{"order_id": id}}}
	require.Contains(t, string(s.message(s.customer, sent, "X-Request-Id", id).raw), `\"request_id\":\"`+id)
}

// An answer has at most 1 MiB, and next_before gives the rest.
func TestToolAnswersAreBounded(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := newSite(t)
	customer := s.Agent()
	task := s.Tasked(customer, "A task", "Do it.", 500)
	want := make(map[string]bool)
	for _, letter := range []string{"<", "\u200b", "\"\\", "漢", "\U0001F600", "a\u200b"} {
		for range 25 {
			text := "x" + strings.Repeat(letter, (4000-2)/len([]rune(letter))) + "x"
			made := s.post(s.Agent(), "/tasks/"+task.ID.String()+"/responses", object{"text": text})
			want[made.ok(201)["response"].(object)["id"].(string)] = true
		}
	}
	seen, m, calls := make(map[string]bool), s.model(customer), 0
	for arguments := map[string]any{"task_id": task.ID.String(), "show": "answers"}; ; calls++ {
		message := object{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "find_tasks", "arguments": arguments},
		}
		require.LessOrEqual(t, len(s.message(customer, message, version, "2025-11-25").raw), 1<<20)
		page := m.call("find_tasks", arguments)
		for _, response := range page["responses"].([]any) {
			id := response.(object)["id"].(string)
			require.False(t, seen[id], "a record comes twice")
			seen[id] = true
		}
		if page["next_before"] == nil {
			break
		}
		arguments = changed(arguments, object{"before": page["next_before"]})
	}
	require.Equal(t, want, seen)
	require.Greater(t, calls, 1, "a page of 100 holds what is 1 MiB")
}

// A fifth parallel call of an agent is refused; notifications and other agents' calls are not.
func TestToolCallsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	busy, other := s.Agent(), s.Agent()
	locked := graphtest.Got(s.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	defer locked.Rollback() // it may have failed before
	graphtest.OK(t)(locked.ExecContext(t.Context(),
		"SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE"))
	call := func(tool string) object {
		return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": tool}}
	}
	var waiting sync.WaitGroup
	var enough atomic.Bool
	for range 4 {
		waiting.Go(func() {
			for !enough.Load() { // a call gives up after a few seconds
				s.message(busy, call("friends"))
			}
		})
	}
	var fifth *answer
	require.Eventually(t, func() bool {
		fifth = s.message(busy, call("me"))
		return fifth.status != http.StatusOK
	}, slack.TestWait, 10*time.Millisecond)
	fifth.fault(fault.RateLimited)
	require.Equal(t, "1", fifth.header.Get("Retry-After"))
	require.Equal(t, http.StatusAccepted, s.message(busy, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).status)
	s.message(other, call("me")).ok(200)
	enough.Store(true)
	require.NoError(t, locked.Rollback())
	waiting.Wait()
	s.message(busy, call("me")).ok(200)
}
