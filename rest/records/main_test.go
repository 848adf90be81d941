package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The Go client's records and operations match the description: make generate writes them.
func TestTheClientHasWhatIsDescribed(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	made, err := generate(described)
	require.NoError(t, err)
	require.Len(t, made, 2)
	for name, content := range made {
		committed, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		require.Equal(t, string(content), string(committed))
	}
}

// The description as JSON matches the YAML: make generate writes it.
func TestTheDescriptionAsJSON(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	made, err := convert(described)
	require.NoError(t, err)
	committed, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	require.True(t, bytes.Equal(made, committed), "make generate makes another one")
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	for key, name := range map[string]string{
		"id": "ID", "task_id": "TaskID", "preview_url": "PreviewURL", "total_minor": "Total", "minor_per_credit": "MinorPerCredit",
		"encryption_public_key": "Key", "is_demo": "IsDemo",
	} {
		assert.Equal(t, name, fieldName(key))
	}
}

func TestTypesOfFields(t *testing.T) {
	t.Parallel()
	w := writer{schemas: map[string]schema{
		"Time": {Type: "string", Format: "date-time"}, "Sort": {Enum: []any{"a"}}, "Post": {Type: "object"}, "Unknown": {Type: "object"},
	}}
	ref := func(name string) schema { return schema{Ref: "#/components/schemas/" + name} }
	null := schema{Type: "null"}
	list := ref("Action")
	for kind, s := range map[string]schema{
		"string":     ref("Sort"),
		"time.Time":  ref("Time"),
		"*time.Time": {AnyOf: []schema{ref("Time"), null}},
		"*int64":     {Type: []any{"integer", "null"}},
		"*float64":   {Type: []any{"number", "null"}},
		"bool":       {AllOf: []schema{{Type: "boolean"}}},
		"*Post":      {AnyOf: []schema{ref("Post"), null}},
		"[]Action":   {Type: "array", Items: &list},
	} {
		assert.Equal(t, kind, w.typeOf(s, "Field"))
	}
	for _, s := range []schema{ref("Unknown"), ref("Missing"), {Type: "object"}, {AnyOf: []schema{ref("Time")}}} {
		assert.Panics(t, func() { w.typeOf(s, "Field") })
	}
}
