package rest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest"
)

// Code generators make no type for an object whose alternatives only differ in required, so no schema has them: a compiler finds
// a client's wrong field.
func TestObjectsHaveNoAlternatives(t *testing.T) {
	t.Parallel()
	raw, err := rest.OpenAPI("")
	require.NoError(t, err)
	var api any
	require.NoError(t, json.Unmarshal(raw, &api))
	var walk func(path string, at any)
	walk = func(path string, at any) {
		switch at := at.(type) {
		case map[string]any:
			for _, word := range []string{"anyOf", "oneOf"} {
				alternatives, _ := at[word].([]any)
				for _, one := range alternatives {
					one, _ := one.(map[string]any)
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
