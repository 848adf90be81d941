package rest_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/rest"
	"stoa/rest/mcp"
)

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
var odd = []any{"", "x", -1, 1.5, true, nil, []any{"x"}, map[string]any{"x": 1}, "01a20005-3279-7101-88e5-f352f236b427", "\u0000"}

// plausible returns a valid argument for a schema, except that an id is always an agent's.
func plausible(schema map[string]any, agent uuid.UUID) any {
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
func calls(tool *sdk.Tool, other uuid.UUID) []map[string]any {
	properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
	whole := make(map[string]any)
	for name, schema := range properties {
		whole[name] = plausible(schema.(map[string]any), other)
	}
	tried := []map[string]any{{}, whole}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		for _, value := range odd {
			tried = append(tried, changed(maps.Clone(whole), map[string]any{name: value}), map[string]any{name: value})
		}
	}
	return tried
}

// Every operation refuses the same request with the same status, code, message and fields, over every transport and for every
// caller.
func TestDoorsRefuseAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	description, err := rest.OpenAPI(s.url)
	require.NoError(t, err)
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
			var refused map[string]any
			require.NoError(t, json.Unmarshal([]byte(told.Content[0].(*sdk.TextContent).Text), &refused))
			require.EqualValues(t, direct.last.status, refused["status"], "%s %v", tool.Name, arguments)
			require.Equal(t, direct.last.body["error"], refused["error"], "%s %v", tool.Name, arguments)
			codes[refused["error"].(map[string]any)["code"].(string)] = true
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
	server, err := mcp.NewServer(mcp.Options{Description: description, Name: "x", Version: "1", API: api})
	require.NoError(t, err)
	here, there := sdk.NewInMemoryTransports()
	_, err = server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &model{t: t, session: session}
}

// try calls a tool and accepts any answer.
func (m *model) try(name string, arguments map[string]any) *sdk.CallToolResult {
	m.t.Helper()
	result, err := m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(m.t, err)
	return result
}

// The MCP endpoint refuses an invalid token, and the token of a suspended agent, like every other path.
func TestDoorsAreShutAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suspended := s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	call := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "me"}}
	for _, token := range []string{"stoa_nobody", suspended.Token} {
		direct := s.send("GET", "/api/v1/bots/me", token, nil)
		tool := s.send("POST", "/mcp", token, call, "Accept", "application/json, text/event-stream")
		require.Equal(t, direct.status, tool.status)
		require.Equal(t, direct.body, tool.body)
	}
}
