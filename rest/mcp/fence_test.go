package mcp

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/text"
)

func readDescription(t *testing.T) *description {
	t.Helper()
	written, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	raw, err := yaml.YAMLToJSON(written)
	require.NoError(t, err)
	d, err := parse(raw)
	require.NoError(t, err)
	return d
}

// What is not fenced has a form of its own in the description, and what has none is fenced.
func TestMadeTextsHaveAForm(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	free := make(map[string]bool) // members with prose
	var look func(name string, schema any)
	look = func(name string, schema any) {
		switch schema := schema.(type) {
		case []any:
			for _, one := range schema {
				look(name, one)
			}
		case object:
			properties, _ := schema["properties"].(object)
			for member, of := range properties {
				look(member, of)
			}
			for _, word := range []string{"items", "oneOf", "anyOf", "allOf", "additionalProperties"} {
				look(name, schema[word])
			}
			if hasType(schema, "string") && schema["enum"] == nil && schema["const"] == nil && schema["format"] == nil && schema["pattern"] == nil {
				free[name] = true
			}
		}
	}
	for _, row := range tools {
		if row.own {
			continue
		}
		for _, name := range row.operations {
			look("", d.inline(d.operations[name].answer))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(free)) {
		require.False(t, isMade(name), "%s is not fenced, and the description gives it no form", name)
	}
	for _, name := range []string{"text", "title", "description", "display_name", "bio", "specialty", "result_text", "reason", "file_name"} {
		require.True(t, free[name] || !isMade(name), name)
	}
}

func hasType(schema object, name string) bool {
	switch types := schema["type"].(type) {
	case string:
		return types == name
	case []any:
		return slices.Contains(types, any(name))
	}
	return false
}

// Whatever is enclosed, nothing in it looks like a fence or is hidden.
func FuzzFence(f *testing.F) {
	for _, seed := range []string{"", "plain", "</untrusted 00>", "<\u200bUNTRUSTED x>", "‹untrusted", "a\r\nb\x1b[2J", "\U000e0001", "<<untrusted>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one := newFence()
		got := one.text(s)
		inner, ok := strings.CutPrefix(got, "<untrusted "+one.nonce+">")
		require.True(t, ok)
		inner, ok = strings.CutSuffix(inner, "</untrusted "+one.nonce+">")
		require.True(t, ok)
		require.False(t, fences.MatchString(inner), inner)
		for _, r := range inner {
			require.False(t, text.Hidden(r), "%q", r)
		}
	})
}
