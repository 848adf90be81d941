package rest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/rest"
	"stoa/rest/mcp"
	"stoa/rest/npm"
	"stoa/rest/resttest"
)

// discovered maps the descriptions that link to others to their media types.
var discovered = map[string]string{
	"/api/v1/openapi.json":                    "application/json",
	"/skill.md":                               "text/markdown; charset=utf-8",
	"/llms.txt":                               "text/plain; charset=utf-8",
	"/.well-known/agent-skills/index.json":    "application/json",
	"/.well-known/agent-skills/stoa/SKILL.md": "text/markdown; charset=utf-8",
	"/.well-known/api-catalog":                `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
	"/.well-known/ai-catalog.json":            "application/ai-catalog+json",
	"/mcp/server-card":                        "application/mcp-server-card+json",
	"/heartbeat.md":                           "text/markdown; charset=utf-8",
	"/contract.md":                            "text/markdown; charset=utf-8",
	"/orders.md":                              "text/markdown; charset=utf-8",
	"/reference.md":                           "text/markdown; charset=utf-8",
	"/llms-full.txt":                          "text/plain; charset=utf-8",
	"/robots.txt":                             "text/plain; charset=utf-8",
	"/.well-known/stoa-keys.json":             "application/json",
	"/.well-known/jwks.json":                  "application/json",
}

// addresses returns the URLs of this server in a text.
func (s *site) addresses(text []byte) []string {
	return regexp.MustCompile(regexp.QuoteMeta(s.url)+"[^\\s\"'`)?&<]*[a-zA-Z0-9]").FindAllString(string(text), -1)
}

// Every link in a description works.
func TestDescriptionsLeadSomewhere(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	client := npm.FileName()
	all := maps.Clone(discovered)
	all["/clients/"+client] = "application/gzip"
	for path, media := range all {
		got := s.send("GET", path, "", nil).is(200)
		for header, value := range map[string]string{
			"Content-Type": media, "Access-Control-Allow-Origin": "*", "Link": `</.well-known/api-catalog>; rel="api-catalog"`,
		} {
			require.Equal(t, value, got.header.Get(header), path)
		}
		s.send("GET", path, "", nil, "If-None-Match", got.header.Get("ETag")).is(304)
		require.NotContains(t, string(got.raw), "127.0.0.1:8080", "the origin is this server's")
		if path == "/api/v1/openapi.json" {
			continue // its examples name records
		}
		for _, address := range s.addresses(got.raw) {
			path := strings.TrimPrefix(address, s.url)
			if path == "/api/v1" || strings.ContainsAny(path, "<{") {
				continue
			}
			status := s.send("GET", path, "", nil).status
			require.NotEqual(t, http.StatusNotFound, status, "%s names %s", path, address)
		}
	}
	require.NotEmpty(t, s.addresses(s.send("GET", "/.well-known/ai-catalog.json", "", nil).raw))
}

// The documents state the size of the description, for readers with a small context.
func TestTheSizeOfTheDescriptionIsTrue(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	size := len(s.send("GET", "/api/v1/openapi.json", "", nil).raw)
	for _, path := range []string{"/skill.md", "/llms.txt"} {
		said := regexp.MustCompile(`openapi\.json[^(]*\((\d+) KB\)`).FindSubmatch(s.send("GET", path, "", nil).raw)
		require.NotNil(t, said, path)
		require.InEpsilon(t, size, graphtest.Got(strconv.Atoi(string(said[1])))(t)*1000, 0.1, path)
	}
}

// The index links to the same skill as /skill.md, with its hash, and the front matter has the standard form.
func TestSkillIsOne(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	skill := s.send("GET", "/skill.md", "", nil).raw
	entry := s.send("GET", "/.well-known/agent-skills/index.json", "", nil).ok(200)["skills"].([]any)[0].(object)
	sum := sha256.Sum256(skill)
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), entry["digest"])
	require.Equal(t, skill, s.send("GET", strings.TrimPrefix(entry["url"].(string), s.url), "", nil).raw)

	_, after, _ := strings.Cut(string(skill), "---\n")
	front, _, found := strings.Cut(after, "\n---\n")
	require.True(t, found)
	var matter object
	require.NoError(t, yaml.Unmarshal([]byte(front), &matter))
	require.Regexp(t, "^[a-z0-9]+(-[a-z0-9]+)*$", matter["name"])
	contains(t, entry, object{"name": matter["name"], "description": matter["description"]})
	require.LessOrEqual(t, len(matter["description"].(string)), 1024)
	require.NotEmpty(t, matter["license"])
	require.LessOrEqual(t, len(as[string](matter["compatibility"])), 500)
	require.Equal(t, at(resttest.Load().Document, "info")["version"], at(matter, "metadata")["version"])
}

// /llms-full.txt lists every request, /heartbeat.md every kind of event, and /reference.md names this server.
func TestTextsAreWhole(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	whole := string(s.send("GET", "/llms-full.txt", "", nil).raw)
	for _, row := range rest.Rows(s.Graph) {
		require.Contains(t, whole, "`"+row.Method+" "+row.Path+"`: ")
	}
	require.Contains(t, string(s.send("GET", "/reference.md", "", nil).raw), s.url+"/api/v1")
	wake := string(s.send("GET", "/heartbeat.md", "", nil).raw)
	for _, kind := range events.Kinds() {
		require.Contains(t, wake, "`"+kind+"`")
	}
}

// The server card has the form that the protocol requires, and leads to the tools.
func TestServerCard(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	var card object
	require.NoError(t, json.Unmarshal(s.send("GET", "/mcp/server-card", "", nil).raw, &card))
	require.Regexp(t, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, card["name"])
	require.LessOrEqual(t, len(card["description"].(string)), 100)
	require.NotEmpty(t, card["version"])
	contains(t, first(card, "remotes"), object{"type": "streamable-http", "url": s.url + "/mcp"})
	require.Equal(t, "Bearer {token}", first(first(card, "remotes"), "headers")["value"])

	s.message(s.Agent(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
		"clientInfo":{"name":"x","version":"1"}}}`).
		has(200, object{"result": object{"serverInfo": object{"name": card["name"], "title": card["title"]}}})
}

// A process without the API does not advertise tools.
func TestNothingIsNamedThatIsNotServed(t *testing.T) {
	t.Parallel()
	handler := rest.New(rest.Config{Logger: slog.New(slog.DiscardHandler), Origin: "https://stoa.example"})
	get := func(path string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return recorder
	}
	require.Equal(t, http.StatusNotFound, get("/mcp/server-card").Code)
	for _, path := range []string{"/.well-known/ai-catalog.json", "/.well-known/api-catalog"} {
		require.Equal(t, http.StatusOK, get(path).Code)
		require.NotContains(t, get(path).Body.String(), "/mcp", path)
	}
}

// recordedDoor sends the request of a tool to /api/v1 itself, and keeps the answer.
type recordedDoor struct {
	site  *site
	token string
	last  *answer
}

func (r *recordedDoor) Do(_ context.Context, wanted mcp.Request) (mcp.Answer, error) {
	var sent any
	if wanted.Body != nil {
		sent = string(wanted.Body)
	}
	var headers []string
	if wanted.ContentType != "" {
		headers = []string{"Content-Type", wanted.ContentType}
	}
	r.last = r.site.send(wanted.Method, wanted.Target, r.token, sent, headers...)
	return mcp.Answer{Status: r.last.status, Header: r.last.header, Body: r.last.raw}, nil
}

// odd holds values that are wrong for most arguments.
var odd = []any{"", "x", -1, 1.5, true, nil, []any{"x"}, object{"x": 1}, "01a20005-3279-7101-88e5-f352f236b427", "\u0000"}

// plausible returns a valid argument for a schema, except that an id is always an agent's.
func plausible(schema object, agent uuid.UUID) any {
	if among, ok := schema["enum"].([]any); ok {
		return among[0]
	}
	switch schema["type"] {
	case "integer":
		if least, ok := schema["minimum"]; ok {
			return least
		}
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	}
	if schema["format"] == "uuid" {
		return agent.String()
	}
	return "2999-01-01T00:00:00Z"
}

// calls returns the arguments to try a tool with: none, plausible ones, and plausible ones with one odd value.
func calls(tool *sdk.Tool, other uuid.UUID) []object {
	properties, _ := tool.InputSchema.(object)["properties"].(object)
	whole := make(object)
	for name, schema := range properties {
		whole[name] = plausible(schema.(object), other)
	}
	tried := []object{{}, whole}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		for _, value := range odd {
			tried = append(tried, changed(maps.Clone(whole), object{name: value}), object{name: value})
		}
	}
	return tried
}

// Every operation refuses the same request with the same status, code, message and fields, over every transport and for every
// caller.
func TestDoorsRefuseAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	description := rest.OpenAPI(s.url)
	codes, other := make(map[string]bool), s.Agent().ID
	var tools []*sdk.Tool
	for tool, err := range s.model(s.Agent()).session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		tools = append(tools, tool)
	}
	direct := &recordedDoor{site: s}
	local := directModel(t, description, direct)
	for n, tool := range tools {
		agent := s.Agent() // one agent for each tool stays below the limits of a minute
		direct.token = agent.Token
		remote := s.model(agent)
		for i, arguments := range calls(tool, other) {
			if testing.Short() && i%5 != n%5 {
				continue
			}
			direct.last = nil
			local.try(tool.Name, arguments)
			if direct.last == nil || direct.last.status < http.StatusBadRequest {
				continue // nothing was sent, or it succeeded
			}
			told := remote.try(tool.Name, arguments)
			require.True(t, told.IsError, "%s %v", tool.Name, arguments)
			var refused object
			require.NoError(t, json.Unmarshal([]byte(told.Content[0].(*sdk.TextContent).Text), &refused))
			require.EqualValues(t, direct.last.status, refused["status"], "%s %v", tool.Name, arguments)
			if fields, some := direct.last.body["error"].(object)["fields"].(object); some && fields["wait"] != nil {
				fields["wait_seconds"] = fields["wait"] // the name of the argument
				delete(fields, "wait")
			}
			require.Equal(t, direct.last.body["error"], refused["error"], "%s %v", tool.Name, arguments)
			codes[refused["error"].(object)["code"].(string)] = true
		}
	}
	for _, code := range []string{
		"invalid_input", "invalid_id", "invalid_pagination", "invalid_search", "not_found", "invalid_kind", "invalid_text",
	} {
		require.True(t, codes[code], "%s was never met", code)
	}
}

func (*recordedDoor) Self(context.Context) string { return "" }

func (*recordedDoor) RequestID(context.Context) string { return "" }

// directModel calls tools that send their requests through api.
func directModel(t *testing.T, description []byte, api mcp.API) *model {
	t.Helper()
	server, _ := mcp.NewServers(mcp.Options{Description: description, Name: "x", Version: "1", API: api})
	here, there := sdk.NewInMemoryTransports()
	graphtest.OK(t)(server.Connect(t.Context(), there, nil))
	session := graphtest.Got(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil))(t)
	t.Cleanup(func() { _ = session.Close() })
	return &model{t: t, session: session}
}

// try calls a tool and accepts any answer.
func (m *model) try(name string, arguments object) *sdk.CallToolResult {
	m.t.Helper()
	return graphtest.Got(m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments}))(m.t)
}

// The MCP endpoint refuses an invalid token, and the token of a suspended agent, like every other path.
func TestDoorsAreShutAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suspended := s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	call := object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "me"}}
	for _, token := range []string{"stoa_nobody", suspended.Token} {
		direct := s.send("GET", "/api/v1/bots/me", token, nil)
		tool := s.send("POST", "/mcp", token, call, "Accept", "application/json, text/event-stream").is(direct.status)
		require.Equal(t, direct.body, tool.body)
	}
}
