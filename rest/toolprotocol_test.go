package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/rest"
)

// message sends a message to the tools unchanged.
func (s *site) message(as *graphtest.Agent, message any, headers ...string) *answer {
	s.t.Helper()
	return s.send("POST", "/mcp", as.Token, message, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...)
}

const (
	version    = "Mcp-Protocol-Version"
	newVersion = "2026-07-28"
)

// A message that is not a valid request gets a JSON-RPC error, with its code, the id of the request and a matching status.
func TestToolsSpeakJSONRPC(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, c := range map[string]struct {
		message string
		headers []string
		status  int
		code    int
		id      any
	}{
		"no JSON":           {message: `{"jsonrpc"`, status: 400, code: -32700},
		"nothing":           {message: ``, status: 400, code: -32700},
		"two values":        {message: list + list, status: 400, code: -32700},
		"a batch":           {message: `[` + list + `]`, status: 400, code: -32600},
		"an empty batch":    {message: `[]`, status: 400, code: -32600},
		"a batch, old":      {message: `[` + list + `]`, headers: []string{version, "2025-03-26"}, status: 400, code: -32600},
		"a string":          {message: `"x"`, status: 400, code: -32600},
		"null":              {message: `null`, status: 400, code: -32600},
		"no version of RPC": {message: `{"id":"a","method":"ping"}`, status: 400, code: -32600, id: "a"},
		"no method":         {message: `{"jsonrpc":"2.0","id":7}`, status: 400, code: -32600, id: 7.0},
		"a method of 1":     {message: `{"jsonrpc":"2.0","id":7,"method":1}`, status: 400, code: -32600, id: 7.0},
		"an id of null":     {message: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, status: 400, code: -32600},
		"an id of 1.5":      {message: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, status: 400, code: -32600},
		"list parameters":   {message: `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, status: 400, code: -32602, id: 1.0},
		"no parameters":     {message: `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, status: 400, code: -32600, id: 1.0},
		"bad initialize":    {message: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, status: 400, code: -32602, id: 1.0},
		"no method of all":  {message: `{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, status: 200, code: -32601, id: 1.0},
		"undeclared":        {message: `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, status: 200, code: -32601, id: 1.0},
		"undeclared, set":   {message: `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, status: 200, code: -32601, id: 1.0},
		"undeclared, new": {
			message: `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`,
			headers: []string{version, newVersion, "Mcp-Method", "resources/list"}, status: 404, code: -32601, id: 1.0,
		},
		"unknown tool": {message: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}`, status: 200, code: -32602, id: 1.0},
		"not accepted": {message: list, headers: []string{"Accept", "application/json"}, status: 400, code: -32600, id: 1.0},
	} {
		got := s.message(agent, c.message, c.headers...)
		require.Equal(t, c.status, got.status, "%s: %s", name, got.raw)
		require.Equal(t, "application/json", got.header.Get("Content-Type"), name)
		require.Equal(t, "2.0", got.body["jsonrpc"], name)
		require.Equal(t, c.id, got.body["id"], name)
		failure, _ := got.body["error"].(object)
		require.EqualValues(t, c.code, failure["code"], "%s: %s", name, got.raw)
		require.NotEmpty(t, failure["message"], name)
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/unheard"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		got := s.message(agent, message)
		require.Equal(t, http.StatusAccepted, got.status, "%s: %s", message, got.raw)
		require.Empty(t, got.raw)
	}
}

// No part of a request is repeated at its full length, so that answers stay below 1 MiB.
func TestToolsRepeatNoLongText(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	long := strings.Repeat("<", 1<<20)
	call := func(name string, arguments object) object {
		return object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": arguments}}
	}
	for name, message := range map[string]object{
		"id":       {"jsonrpc": "2.0", "id": long, "method": "ping"},
		"method":   {"jsonrpc": "2.0", "id": 1, "method": long},
		"tool":     call(long, nil),
		"argument": call("me", object{long: 1}),
		"choice":   call("me", object{"show": long}),
		"handle":   call("find_agents", object{"bot_id": long}),
		"client":   call("how_to_join", object{"client": long}),
		"version": {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": object{
			"_meta": object{"io.modelcontextprotocol/protocolVersion": long},
		}},
	} {
		text := strings.ReplaceAll(string(graphtest.Got(json.Marshal(message))(t)), `\u003c`, "<")
		got := s.message(agent, text)
		require.NotEqual(t, http.StatusRequestEntityTooLarge, got.status, name)
		require.Less(t, len(got.raw), 10<<10, "%s: %d", name, got.status)
	}
}

// An unsupported protocol version is refused with the list of supported versions, wherever the message names it.
func TestToolsRefuseUnknownVersions(t *testing.T) {
	t.Parallel()
	s, agent := sharedSite(t).withAgent()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"`
	for message, headers := range map[string][]string{
		list + "}": {version, "2099-01-01"},
		list + `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`: nil,
	} {
		failure := s.message(agent, message, headers...).is(http.StatusBadRequest).body["error"].(object)
		contains(t, failure, object{"code": -32022, "data": object{"requested": "2099-01-01"}})
		require.Subset(t, failure["data"].(object)["supported"], []any{newVersion, "2025-06-18"})
	}
	asked := s.message(agent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},
		"clientInfo":{"name":"x","version":"1"}}}`).ok(200)
	require.Equal(t, "2025-11-25", asked["result"].(object)["protocolVersion"], "in initialize a version is a question")
}

// A subscription is confirmed with server-sent events; since nothing changes here, it ends at once.
func TestToolsAnswerSubscriptionsWithEvents(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	got := s.message(s.Agent(), `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		version, newVersion, "Mcp-Method", "subscriptions/listen")
	require.Equal(t, http.StatusOK, got.status, "%s", got.raw)
	require.Equal(t, "text/event-stream", got.header.Get("Content-Type"))
	require.Contains(t, string(got.raw), "data: {")
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
}

// A name in base64 is decoded.
func TestToolsReadEncodedNames(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me",
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	agent := s.Agent()
	for name, status := range map[string]int{"me": 200, "=?base64?bWU=?=": 200, "=?base64?bWF5?=": 400, "wallet": 400} {
		got := s.message(agent, call, version, newVersion, "Mcp-Method", "tools/call", "Mcp-Name", name)
		require.Equal(t, status, got.status, "%s: %s", name, got.raw)
		if status == http.StatusBadRequest {
			require.EqualValues(t, -32020, got.body["error"].(object)["code"])
		}
	}
}

// Clients of every version get the data twice: as structured content that follows the tool's schema, and as text.
func TestToolsAnswerEveryVersionAlike(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	s.offer(s.contractor, changed(s.asked(), object{"title": `quoted "text" \ <and> more`}))
	for _, path := range []string{"/mcp", "/mcp?results=text"} {
		for _, named := range []string{"", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
			send := func(message string) object {
				headers := []string{"Accept", "application/json, text/event-stream"}
				if named != "" {
					headers = append(headers, version, named)
				}
				return s.send("POST", path, s.customer.Token, message, headers...).ok(200)["result"].(object)
			}
			result := send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"orders","arguments":{}}}`)
			var content object
			require.NoError(t, json.Unmarshal([]byte(result["content"].([]any)[0].(object)["text"].(string)), &content), named)
			require.Equal(t, result["structuredContent"], content, named)
			require.Contains(t, first(content, "orders")["title"], `quoted "text" \ <and> more`)
			for _, tool := range send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)["tools"].([]any) {
				require.NotNil(t, tool.(object)["outputSchema"], named)
			}
		}
	}
}

// Only the base URL, allowed origins and, at a loopback address, names of this machine pass as Origin; Host proves nothing.
func TestToolsAndRebinding(t *testing.T) {
	t.Parallel()
	s := serve(t, shared.World(t), rest.Config{AllowedOrigins: []string{"https://*.friend.example"}})
	agent := s.Agent()
	port := s.url[strings.LastIndex(s.url, ":"):]
	for origin, status := range map[string]int{
		"http://evil.example" + port: 403, "https://evil.example": 403, "null": 403, "http://127.0.0.1.evil.example": 403, "http://192.168.1.5": 403,
		"http://localhost.evil.example": 403, s.url: 200, "http://localhost" + port: 200, "http://[::1]" + port: 200, "http://127.0.0.1" + port: 200,
		"https://a.friend.example": 200,
	} {
		_, host, _ := strings.Cut(origin, "//")
		got := s.message(agent, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Origin", origin, "Host", host)
		require.Equal(t, status, got.status, "%s: %s", origin, got.raw)
		require.Empty(t, got.header.Get("Mcp-Session-Id"))
	}
	s.send("GET", "/.well-known/oauth-protected-resource", "", nil).fault(fault.NotFound)
	preflight := s.send("OPTIONS", "/mcp", "", nil, "Origin", "https://a.friend.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version")
	require.Equal(t, "https://a.friend.example", preflight.header.Get("Access-Control-Allow-Origin"))
	for _, name := range []string{"mcp-protocol-version", "mcp-method", "mcp-name"} {
		require.Contains(t, strings.ToLower(preflight.header.Get("Access-Control-Allow-Headers")), name)
	}
	s.send("GET", "/mcp", agent.Token, nil).fault(fault.MethodNotAllowed)
}

// The arguments of actions hold no fence. If a model passes on a fenced text, the fence is removed from the data.
func TestFencesNeverBecomeData(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	const description = "I write <untrusted text and </untrusted>."
	made := ben.call("offer_service", object{"title": "A short poem", "description": description, "amount_minor": 1000})["service"].(object)
	service := ada.call("find_services", object{"service_id": made["id"]})["service"].(object)
	require.Contains(t, service["title"], "<untrusted ")
	var offer object
	for _, action := range service["actions"].([]any) {
		action := action.(object)
		require.NotContains(t, fmt.Sprint(action["arguments"]), "untrusted")
		if action["tool"] == "offer_order" {
			offer = action
		}
	}
	require.Equal(t, []any{"deadline", "description", "title"}, offer["fill_in"])

	order := ada.call("offer_order", changed(offer["arguments"].(object), object{
		"title": service["title"], "description": "About <untrusted things.", "deadline": "2999-01-01T00:00:00Z",
	}))["order"].(object)
	s.get(s.customer, "/orders/"+of(order)).has(200, object{"order": object{
		"service_id": made["id"], "title": "A short poem", "description": "About <untrusted things.",
	}})
	s.get(s.customer, "/services/"+of(made)).has(200, object{"service": object{"description": description}})
}

// A host that runs code can send and read envelopes with the tool; no member of an envelope is fenced or left out.
func TestToolsCarryEnvelopes(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	sealed := envelope(s.customer, s.contractor)
	record := ada.call("sealed_messages", changed(maps.Clone(sealed), object{"recipient_id": s.handleOf(s.contractor)}))["message"].(object)
	contains(t, record, sealed)
	require.Equal(t, record["id"], of(ada.call("sealed_messages", sealed)["message"].(object)), "a repeat sends nothing")
	require.Equal(t, []any{record}, ben.call("sealed_messages", object{"peer": s.customer.ID})["messages"])
	ada.refused("key_changed", "sealed_messages", changed(envelope(s.customer, s.contractor), object{"recipient_public_key": s.Agent().PublicKey()}))
	s.Show(s.contractor, true)
	require.Contains(t, ada.callsOf(ada.call("find_agents", object{"bot_id": s.contractor.ID})["bot"]), "sealed_messages")
}
