package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/rest"
	"stoa/rest/resttest"
)

// partial lists the optional members according to contract and description; all other members are required.
var partial = map[string][]string{
	"Error": {"fields"},
	"Task":  {"order_id"},

	"OrderPayload":            {"action", "actor_id"},
	"ContactRequestedPayload": {"resembles"},
	"RewardGround":            {"granted_amount_minor", "granted_at"},
}

// at follows names in the description and returns the object there, or an empty one.
func at(value any, names ...string) object {
	for _, name := range names {
		m, _ := value.(object)
		value = m[name]
	}
	m, _ := value.(object)
	return m
}

// The description names the server that sends it. make verify checks that it is valid OpenAPI with valid examples.
func TestDescriptionNamesItsServer(t *testing.T) {
	t.Parallel()
	raw := rest.OpenAPI("https://stoa.example")
	var document object
	require.NoError(t, json.Unmarshal(raw, &document))
	require.Equal(t, "3.1.0", document["openapi"])
	require.Equal(t, "0.1.0", at(document, "info")["version"])
	require.Equal(t, "https://stoa.example", document["servers"].([]any)[0].(object)["url"])
	scheme := at(document, "components", "securitySchemes", "BotBearer")
	require.Equal(t, []any{"http", "bearer"}, []any{scheme["type"], scheme["scheme"]})
}

// The description has exactly the routes, with method, path, success status, permitted callers and body.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	paths := at(resttest.Load().Document, "paths")
	described := map[string]bool{}
	for path, item := range paths {
		if slices.Contains(rest.Pages(), path) {
			require.Equal(t, []string{"get"}, slices.Collect(maps.Keys(at(item))), path)
			continue
		}
		for method := range at(item) {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, page := range rest.Pages() {
		require.Contains(t, paths, page)
	}
	for _, row := range rest.Rows(shared.World(t).Graph) {
		route := row.Method + " " + row.Path
		require.True(t, described[route], "%s is not described", route)
		delete(described, route)
		operation := at(paths, row.Path, strings.ToLower(row.Method))
		responses := at(operation, "responses")
		require.Contains(t, responses, strconv.Itoa(row.Status), route)
		require.Equal(t, !row.Anyone, responses["401"] != nil, route)
		security, own := operation["security"].([]any)
		require.Equal(t, row.Anyone || row.Readers, own, route)
		require.Equal(t, row.Readers, len(security) == 2, route)
		if row.Body == "" {
			require.NotContains(t, operation, "requestBody", route)
			continue
		}
		require.Contains(t, at(operation, "requestBody", "content"), row.Body, route)
		require.Equal(t, !row.Empty, at(operation, "requestBody")["required"], route)
	}
	require.True(t, described["POST "+rest.ToolsPath])
	delete(described, "POST "+rest.ToolsPath)
	require.Empty(t, described, "described, but not served")
}

// The description lists every code at least once, and only under its status.
func TestEveryCodeIsDescribed(t *testing.T) {
	t.Parallel()
	d := resttest.Load()
	said := map[fault.Code]bool{}
	responses := func(where string, all object) {
		for status, response := range all {
			for _, code := range codesOf(t, d, response) {
				require.Equal(t, status, strconv.Itoa(fault.New(code).Status()), "%s: %s", where, code)
				said[code] = true
			}
		}
	}
	for path, item := range at(d.Document, "paths") {
		for method, operation := range at(item) {
			responses(method+" "+path, at(operation, "responses"))
		}
	}
	responses("x-every-path", at(d.Document, "x-every-path", "responses"))
	listed, _ := at(d.Document, "components", "schemas", "ErrorCode")["enum"].([]any)
	var enum []fault.Code
	for _, code := range listed {
		enum = append(enum, fault.Code(fmt.Sprint(code)))
	}
	require.ElementsMatch(t, enum, slices.Collect(maps.Keys(said)))
	require.ElementsMatch(t, fault.Codes(), enum)
}

// codesOf lists the error codes of a response.
func codesOf(t *testing.T, d *resttest.Description, response any) []fault.Code {
	t.Helper()
	member := at(response)
	if target, ok := member["$ref"].(string); ok {
		member = at(d.Document, strings.Split(strings.TrimPrefix(target, "#/"), "/")...)
	}
	schema := at(member, "content", "application/json", "schema")
	if schema["$ref"] != "#/components/schemas/Error" {
		return nil
	}
	listed, _ := at(schema, "properties", "error", "properties", "code")["enum"].([]any)
	require.NotEmpty(t, listed)
	codes := make([]fault.Code, len(listed))
	for i, code := range listed {
		codes[i] = fault.Code(fmt.Sprint(code))
	}
	return codes
}

// Records, requests and answers allow no other members. All members of a record or an answer are required, unless the contract
// differs. So the check of every answer (resttest) proves its members.
func TestSchemasAreClosed(t *testing.T) {
	t.Parallel()
	document := resttest.Load().Document
	for name, schema := range at(document, "components", "schemas") {
		requireClosed(t, name, name, at(schema))
	}
	for path, item := range at(document, "paths") {
		for method, operation := range at(item) {
			for status, response := range at(operation, "responses") {
				if strings.HasPrefix(path, "/api/v1/") && path != "/api/v1/openapi.json" {
					requireClosed(t, "", method+path+status, at(response, "content", "application/json", "schema"))
				}
			}
		}
	}
}

func requireClosed(t *testing.T, name, where string, schema object) {
	t.Helper()
	properties := at(schema, "properties")
	_, refined := schema["allOf"]
	if properties != nil && !refined && schema["type"] != nil {
		require.Equal(t, false, schema["additionalProperties"], where)
		required, _ := schema["required"].([]any)
		for property := range properties {
			if !strings.HasSuffix(name, "Input") && !slices.Contains(partial[name], property) {
				require.Contains(t, required, property, where)
			}
		}
	}
	for property, member := range properties {
		requireClosed(t, name, where+"."+property, at(member))
	}
	if items := at(schema, "items"); items != nil {
		requireClosed(t, name, where+"[]", items)
	}
}

// Code generators make no type for an object whose alternatives only differ in required, so no schema has such alternatives: a
// compiler finds a client's wrong field.
func TestObjectsHaveNoAlternatives(t *testing.T) {
	t.Parallel()
	raw := rest.OpenAPI("")
	var api any
	require.NoError(t, json.Unmarshal(raw, &api))
	var walk func(path string, at any)
	walk = func(path string, at any) {
		switch at := at.(type) {
		case object:
			for _, word := range []string{"anyOf", "oneOf"} {
				alternatives, _ := at[word].([]any)
				for _, one := range alternatives {
					one, _ := one.(object)
					_, required := one["required"]
					require.False(t, required && len(one) == 1, path)
				}
			}
			for name, inner := range at {
				walk(path+"/"+name, inner)
			}
		case []any:
			for _, inner := range at {
				walk(path, inner)
			}
		}
	}
	walk("", api)
}

// The registry of the Model Context Protocol accepts the name of the MCP server for any base URL.
func TestToolsNameFitsTheRegistry(t *testing.T) {
	t.Parallel()
	for origin, name := range map[string]string{
		"":                              "1.0.0.127/stoa",
		"https://stoa.example.org":      "org.example.stoa/stoa",
		"http://localhost:8080":         "localhost/stoa",
		"http://[::1]:8080":             "--1/stoa",
		"http://[2001:db8::1]":          "2001-db8--1/stoa",
		"https://bücher.example":        "example.xn--bcher-kva/stoa",
		"http://my_host:1":              "my-host/stoa",
		"http://[fe80::1%25eth0]:8080/": "fe80--1-eth0/stoa",
	} {
		require.Equal(t, name, rest.ToolsName(origin), origin)
		require.Regexp(t, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, name)
	}
}
